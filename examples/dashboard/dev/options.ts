// Reads the command line of `npm run dashboard`.

import { parseArgs } from 'node:util';

export const HELP = `Starts the dashboard example: the app, a gateway with the sandbox, and a development issuer.

Usage: npm run dashboard -- [options]

  --port PORT           port of the app (5173, or a free one if that is in use; 0 picks a free one)
  --gateway-port PORT   port of the gateway (4000, likewise)
  --issuer-port PORT    port of the issuer (4010, likewise)
  --token-seconds N     lifetime of tokens, in seconds (300)
  --sandbox FILE        file of the sandbox's data (:memory:)
  --help                show this
`;

export interface StartOptions {
  /** Ports; undefined for the usual one, or a free one if that is in use. */
  port: number | undefined;
  gatewayPort: number | undefined;
  issuerPort: number | undefined;
  tokenSeconds: number;
  sandbox: string;
}

/** Invalid command line; the message is one sentence. */
export class UsageError extends Error {}

/** @returns undefined when only help is asked for */
export function readOptions(args: readonly string[]): StartOptions | undefined {
  const values = parse(args);
  if (values.help) {
    return undefined;
  }
  return {
    port: readPort('port', values.port),
    gatewayPort: readPort('gateway-port', values['gateway-port']),
    issuerPort: readPort('issuer-port', values['issuer-port']),
    tokenSeconds: readNumber('token-seconds', values['token-seconds'], 1, 86_400),
    sandbox: values.sandbox,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        'gateway-port': { type: 'string' },
        'issuer-port': { type: 'string' },
        'token-seconds': { type: 'string', default: '300' },
        sandbox: { type: 'string', default: ':memory:' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    const [sentence] = error instanceof Error ? error.message.split(/\.\s|\n/, 1) : [String(error)];
    throw new UsageError(`${sentence?.replace(/\.$/, '')}: see --help.`);
  }
}

const readPort = (name: string, text: string | undefined) =>
  text === undefined ? undefined : readNumber(name, text, 0, 65_535);

function readNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`);
  }
  return value;
}
