import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { type Config, loadConfig } from '../../src/cli/config/load-config.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { isRecord } from '../../src/lib/is-record.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { type SandboxedGateway, startSandboxedGateway } from './gateway.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where the gateway of the docs is. */
export const SERVICE = 'https://notifications.example.com';

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const FRONTEND = read('docs/frontend.md');

/** The fenced blocks of a language, or of none. */
export const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, of]) => of === language)
    .map(([, , block = '']) => block);

/** The cells of a table's rows, below a heading that matches. */
export function rows(text: string, heading: RegExp): string[][] {
  const lines = text.slice(text.search(heading)).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** What stands between backticks. */
export const names = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** Reads a configuration file with every variable that it names. */
export function load(text: string, env: Record<string, string> = {}): Config {
  const variables = [...text.matchAll(/env: (\w+)/g)].map(([, name = '']) => [
    name,
    name.endsWith('_URL') ? 'redis://127.0.0.1' : `an-obvious-test-secret-of-${name}`,
  ]);
  const readFile = (path: string) => (path === 'notigraph.config.yaml' ? text : undefined);
  const command = loadConfig({ ...Object.fromEntries(variables), ...env }, [], readFile);
  if (command.kind !== 'serve') {
    throw new Error('it is no configuration');
  }
  return command.config;
}

/** Adds what a later block of a page says to what the first one does. */
const merge = (base: unknown, more: unknown): unknown =>
  isRecord(base) && isRecord(more)
    ? { ...base, ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, merge(base[name], value)])) }
    : more;

/** The first configuration file of docs/frontend.md with more in it. */
export const addTo = (more: string): string => stringify(merge(parse(blocks(FRONTEND, 'yaml')[0] ?? ''), parse(more)));

/** What has to be added for client tokens. */
export const CLIENT_TOKENS =
  'clientTokens: { secrets: [{ env: CLIENT_TOKEN_SECRET }] }\ntrustedDocuments: { manifests: [x] }\n';

/** A gateway before the sandbox, as a configuration file says it. */
export async function startConfigured(text: string, now?: () => Date): Promise<SandboxedGateway> {
  const { clients, clientTokens }: Partial<GatewayOptions> = load(text, { ACME_KEY: SANDBOX_KEYS.development }).given;
  const trustedDocuments = { manifests: [manifest] };
  const gateway = await startSandboxedGateway({
    options: { ...(clients && { clients }), ...(clientTokens && { clientTokens }), trustedDocuments },
    ...(now && { now }),
  });
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return gateway;
}

/** Sends the request of a curl line to another server. */
export async function runCurl(line: string, base: string): Promise<Response> {
  const text = line.replaceAll('$ACME_KEY', SANDBOX_KEYS.development);
  const headers = [...text.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(([, name = '', value = '']) => [name, value]);
  const [, url = ''] = /(http\S+)/.exec(text) ?? [];
  const [, body = ''] = /-d '(.*)'/.exec(text) ?? [];
  return fetch(url.replace(SERVICE, base), { method: 'POST', headers: Object.fromEntries(headers), body });
}
