// Packages and runtimes that the gateway needs, and may be missing.

import { orUndefined, SetupError } from './caught.ts';

/** Packages that only users of a feature install. */
const OPTIONAL_PACKAGES = {
  redis: { name: '@redis/client', major: 6, feature: 'Redis' },
  mcp: { name: '@modelcontextprotocol/server', major: 2, feature: 'MCP' },
} as const;

/** @throws {SetupError} if the package of a feature is not installed */
export function assertInstalled(feature: keyof typeof OPTIONAL_PACKAGES): void {
  const { name, major, feature: subject } = OPTIONAL_PACKAGES[feature];
  if (orUndefined(() => import.meta.resolve(name)) === undefined) {
    throw new SetupError(`${subject} needs the package ${name}. Install it with "npm install ${name}@${major}"`);
  }
}

/** @throws {SetupError} in Bun, whose own `undici` has clients that can't send requests. Each call of the service would fail. */
export function assertRuntime(): void {
  if ('Bun' in globalThis) {
    const message = "Bun is not supported, because it replaces the package undici, which sends the gateway's requests";
    throw new SetupError(`${message}. Use Node.js 22.19 or later`);
  }
}
