// Reads the docs, and runs what they show.

import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Config } from '../../packages/cli/src/config/load-config.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { isRecord } from '../../src/lib/is-record.ts';
import { loadFrom } from './configuration.ts';
import { type GatewayWithService, startGateway } from './gateway.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Origin of the notification service in the docs. */
export const SERVICE = 'https://notifications.example.com';

/** Origin of the gateway in the docs. */
export const GATEWAY = 'https://graphql.example.com';

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const FRONTEND = read('docs/frontend.md');

/** Makes a folder a project with packages of this one, and with the sources of `notigraph`. */
export async function linkPackages(folder: string, names: readonly string[] = []): Promise<void> {
  const packages = join(folder, 'node_modules');
  await mkdir(join(packages, 'notigraph'), { recursive: true });
  for (const name of names) {
    await symlink(join(ROOT, 'node_modules', name), join(packages, name), 'dir');
  }
  for (const name of ['src', 'packages']) {
    await symlink(join(ROOT, name), join(packages, 'notigraph', name), 'dir');
  }
  const exports = { '.': './src/index.ts', './client': './packages/client/src/index.ts' };
  await writeFile(join(packages, 'notigraph', 'package.json'), JSON.stringify({ type: 'module', exports }));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
}

/** Returns the fenced code blocks of a language; an empty language selects blocks without one. */
export const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, of]) => of === language)
    .map(([, , block = '']) => block);

/** Returns the words of the command in a block of a terminal, and its output. */
export function readConsole(block = ''): [words: string[], output: string] {
  const [, command = '', output = ''] = /^\$ (.*)\n([\s\S]*)$/.exec(block) ?? [];
  return [command.split(' '), output];
}

/** Returns the cells of the rows of the first table after a matching heading. */
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

/** Returns the texts between backticks. */
export const names = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** Returns the relative links and images of a page. The path is empty for the page itself. */
export const readLinks = (text: string): { path: string; anchor: string | undefined }[] =>
  [...text.matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g), ...text.matchAll(/ src(?:set)?="(?!http)([^"]+)"/g)].map(
    ([, path = '', anchor]) => ({ path, anchor }),
  );

/** Returns the files of the repository that a page links to by their address, because the package doesn't contain them. */
export const readRepositoryLinks = (text: string): { target: string; anchor: string | undefined }[] =>
  [
    ...text.matchAll(/\]\(https:\/\/github\.com\/notigraph\/notigraph\/(?:blob|tree)\/main\/([^)#]+)(?:#([^)]+))?\)/g),
  ].map(([, target = '', anchor]) => ({ target, anchor }));

/** Loads a configuration file, with a value for each environment variable that it names. */
export function load(text: string, env: Record<string, string> = {}): Config {
  const variables = [...text.matchAll(/env: (\w+)/g)].map(([, name = '']) => [
    name,
    name.endsWith('_URL') ? 'redis://127.0.0.1' : `an-obvious-test-secret-of-${name}`,
  ]);
  return loadFrom({
    env: { ...Object.fromEntries(variables), ...env },
    files: { 'notigraph.config.yaml': text },
  });
}

/** Merges the settings of a later block of a page into those of the first one. */
const merge = (base: unknown, changes: unknown): unknown =>
  isRecord(base) && isRecord(changes)
    ? {
        ...base,
        ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, merge(base[name], value)])),
      }
    : changes;

/** Returns the first configuration file of docs/frontend.md with additional settings. */
export const addTo = (changes: string): string =>
  stringify(merge(parse(blocks(FRONTEND, 'yaml')[0] ?? ''), parse(changes)));

/** Settings that client tokens require. */
export const CLIENT_TOKENS =
  'clientTokens: { secrets: [{ env: CLIENT_TOKEN_SECRET }] }\ntrustedDocuments: { manifests: [x] }\n';

/** Starts a gateway in front of the sandbox from a configuration file. */
export async function startConfigured(text: string, now?: () => Date): Promise<GatewayWithService> {
  const { clients, clientTokens } = load(text, { ACME_KEY: SANDBOX_KEYS.development });
  const trustedDocuments = { manifests: [manifest] };
  const gateway = await startGateway(
    { service: 'sandbox', clients, ...(clientTokens && { clientTokens }), trustedDocuments },
    { ...(now && { now }) },
  );
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return gateway;
}

/** Sends the request of a curl command to another server. */
export async function runCurl(line: string, base: string): Promise<Response> {
  const text = line.replaceAll('$ACME_KEY', SANDBOX_KEYS.development);
  const headers = [...text.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(([, name = '', value = '']) => [name, value]);
  const [, url = ''] = /(http\S+)/.exec(text) ?? [];
  const [, body = ''] = /-d '(.*)'/.exec(text) ?? [];
  return fetch(url.replace(GATEWAY, base), { method: 'POST', headers: Object.fromEntries(headers), body });
}
