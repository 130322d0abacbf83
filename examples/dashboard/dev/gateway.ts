// Starts the gateway of the example in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SANDBOX_KEYS } from '../../../packages/sandbox/src/environments.ts';
import { StartError } from './start-error.ts';

const MAIN = fileURLToPath(new URL('../../../bin/notigraph.js', import.meta.url));
const CONFIG = new URL('../notigraph.config.yaml', import.meta.url);

export interface GatewayOptions {
  port: number;
  /** The app's port and the issuer's, which the configuration file names. */
  appPort: number;
  issuerPort: number;
  /** Base URL of the service. */
  upstream: string;
}

/** A gateway in a process of its own. */
export interface GatewayProcess extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Settles when it exits on its own. @returns the reason, as a clause */
  readonly ended: Promise<string>;
}

/**
 * Starts the gateway as anybody would: the configuration file, the tenants' keys in the environment, the service behind it.
 *
 * @throws {StartError} when it does not start
 */
export async function startGateway({ port, appPort, issuerPort, upstream }: GatewayOptions): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [MAIN, '--upstream', upstream, '--port', String(port), '--graphiql', 'off'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)), // The manifest is meant from here.
    env: {
      PATH: process.env.PATH,
      ...configuration(appPort, issuerPort),
      JUNIPER_KEY: SANDBOX_KEYS.development,
      FERNHILL_KEY: SANDBOX_KEYS.production,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // A terminal's Ctrl-C is for this process, which then ends that one in order.
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill); // However this process ends, that one does not stay.
  child.once('exit', () => process.removeListener('exit', kill));

  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = once(child, 'close').then(([code, signal]) => `it ended with ${signal ?? `code ${code}`}`);
  const url = await Promise.race([untilListening(child), ended.then(() => undefined)]);
  if (url === undefined) {
    const reason = errors.join('').trim() || (await ended);
    throw new StartError(`The gateway does not start: ${reason.replace('--port', '--gateway-port')}`);
  }
  child.stderr.on('data', (text: string) => process.stderr.write(text));
  return {
    url,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The file as it is, or its text with other ports where others were chosen. */
function configuration(appPort: number, issuerPort: number): Record<string, string> {
  const text = readFileSync(CONFIG, 'utf8');
  const changed = text.replaceAll(':5173', `:${appPort}`).replaceAll(':4010', `:${issuerPort}`);
  return changed === text ? { NOTIGRAPH_CONFIG: fileURLToPath(CONFIG) } : { NOTIGRAPH_CONFIG_TEXT: changed };
}

/** Reads what it prints until it has named its address; what it prints after that, its log, is let go. */
async function untilListening({ stdout }: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve) => {
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed = printed.length < 10_000 ? printed + text : printed;
      const url = /GraphQL +(http\S+)\s/.exec(printed)?.[1];
      if (url !== undefined) {
        resolve(url);
      }
    });
  });
}
