// The installed package: its version and its files, and the packages and runtimes that it needs.

import { fileURLToPath } from 'node:url';
import { errorCodeOf, orUndefined, SetupError } from './caught.ts';

/** Version of the package. `test/package-references.test.ts` compares it with that in package.json. */
export const VERSION = '1.1.0';

/** Name with which the gateway introduces itself in requests. */
export const USER_AGENT = `notigraph/${VERSION}`;

/** Thrown if a file of the package is missing or can't be read. */
export class InstallationError extends SetupError {
  override readonly name = 'InstallationError';

  constructor(file: URL, cause: unknown) {
    const problem = `${fileURLToPath(file)} can't be read (${errorCodeOf(cause) ?? cause})`;
    super(`the installation is incomplete, because ${problem}. Install Notigraph again`, { cause });
  }
}

/** Returns the address of a file or folder in the package, which contains this module or a bundle of it. */
export const packageUrl = (path: string): URL => new URL(path, import.meta.resolve('#package.json'));

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
