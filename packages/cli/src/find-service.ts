// Finds the service that a command works with, and the key for it.

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isCredential } from '../../../src/auth/identity.ts';
import { suggest } from '../../../src/lib/words.ts';
import type { CommandLine, Process } from './command.ts';
import { readEnvironment } from './config/environment.ts';
import { type Config, loadConfig } from './config/load-config.ts';
import { ConfigError, readNamedFile } from './config/problem.ts';

export type ServiceSettings = Omit<Config, 'upstream' | 'upstreams'>;

interface Service {
  /** Name of the upstream; undefined if there is only one, which has none. */
  name: string | undefined;
  url: URL;
  settings: ServiceSettings;
}

/**
 * Returns the service that a command works with, and its settings.
 *
 * @param name name of the service, if the configuration has several
 * @param purpose words that follow "There is no service"
 * @throws {ConfigError} if there is none, none with the name, or several and none is named
 */
export function findService(
  { upstream, upstreams = {}, ...settings }: Config,
  name: string | undefined,
  purpose: string,
): Service {
  const selected = selectUpstream(Object.keys(upstreams), name);
  if (upstream !== undefined) {
    return { name: undefined, url: new URL(upstream), settings };
  }
  const entry = selected === undefined ? undefined : upstreams[selected];
  if (entry === undefined) {
    throw new ConfigError([
      `There is no service ${purpose}. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address.`,
    ]);
  }
  const { url, ...overrides } = entry;
  return { name: selected, url: new URL(url), settings: { ...settings, ...overrides } };
}

/** Variable with the key of commands for subscribers. A command line would show it to every user of the machine. */
const KEY_VARIABLE = 'NOTIGRAPH_IMPORT_KEY';

const QUESTION = 'API key of the service (not shown): ';

/**
 * Finds the service of a command for subscribers, and the key for it.
 *
 * @param purpose words that follow "There is no service"
 * @param asks whether to ask for the key on a terminal. @default true
 * @throws {ConfigError} if there is none, or the configuration is invalid
 */
export async function findTarget(commandLine: CommandLine, host: Process, purpose: string, asks = true) {
  const environment = readEnvironment(host.env);
  const { name, 'key-file': file } = commandLine.options;
  const { config } = loadConfig(commandLine, environment);
  const service = findService(config, name, purpose);
  const credential = await readCredential(file, environment.values[KEY_VARIABLE], host, asks ? QUESTION : undefined);
  if (credential === undefined) {
    throw new ConfigError([`There is no API key. Set ${KEY_VARIABLE}, or use --key-file.`]);
  }
  return { ...service, credential };
}

/**
 * Returns the name of the upstream that a command works with; undefined if there are no names.
 *
 * @param name name on the command line; undefined if there is none
 * @param fallback upstream if there are several and none is named. @default none
 * @throws {ConfigError} if there is none with the name, or several and none is named
 */
export function selectUpstream(
  names: readonly string[],
  name: string | undefined,
  fallback?: string,
): string | undefined {
  if (name !== undefined && !names.includes(name)) {
    const choice = names.length === 0 ? 'The configuration has no upstreams.' : `Use one of: ${names.join(', ')}.`;
    throw new ConfigError([`--name: there is no service "${name}"${suggest(name, names)}. ${choice}`]);
  }
  const selected = name ?? (names.length === 1 ? names[0] : fallback);
  if (selected === undefined && names.length > 0) {
    throw new ConfigError([`There are several services. Name one with --name: ${names.join(', ')}.`]);
  }
  return selected;
}

/** Maximum size of a file with a key, in bytes. */
const MAX_KEY_FILE_BYTES = 64 * 1024;

/**
 * Reads the API key from a file, a variable, or the terminal.
 *
 * @param file path of the file, or `-` for standard input
 * @param question asked on a terminal, if there is neither a file nor a variable. @default none
 * @returns the `Authorization` header; undefined if there is no key
 * @throws {ConfigError} if the key can't be read or sent
 */
export async function readCredential(
  file: string | undefined,
  variable: string | undefined,
  host: Process,
  question?: string,
): Promise<string | undefined> {
  const key = file === undefined ? (variable ?? (question && (await ask(question, host)))) : await readKey(file, host);
  if (!key) {
    return undefined;
  }
  const credential = `ApiKey ${key.replace(/^ApiKey\s+/i, '')}`;
  if (!isCredential(credential)) {
    throw new ConfigError(['The API key is too long, or contains a space or another invalid character.']);
  }
  return credential;
}

const readKey = async (file: string, { stdin }: Process): Promise<string> =>
  (file === '-' ? await text(stdin) : readNamedFile(file, MAX_KEY_FILE_BYTES, `--key-file: the file ${file}`)).trim();

/** Asks for the key without showing it, if there is a terminal. The question is on standard error, so that output can be piped. */
async function ask(question: string, { stdin, stderr }: Process): Promise<string | undefined> {
  if (!stdin.isTTY) {
    return undefined;
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  using terminal = createInterface({ input: stdin, output: nowhere, terminal: true });
  stderr.write(question);
  const { value: answer = '' } = await terminal[Symbol.asyncIterator]().next(); // Nothing after Ctrl-C and Ctrl-D.
  stderr.write('\n');
  return answer.trim();
}
