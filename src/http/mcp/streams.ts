// Serves one AI agent over streams, such as standard input and output.

import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Identity } from '../../auth/identity.ts';
import { RunningRequests } from '../pipeline.ts';
import { toRequestId } from '../request-id.ts';
import type { McpStreams } from './messages.ts';
import type { CreateToolServer } from './tool-server.ts';

/** Loads the part of the protocol's package for standard input and output. */
const loadStdio = (): typeof import('@modelcontextprotocol/server/stdio') =>
  createRequire(import.meta.url)('@modelcontextprotocol/server/stdio');

/** Maximum length of a problem in the log, which may quote what a client sent. */
const MAX_PROBLEM = 200;

/** Serves one client until a stream ends. Calls that are in flight when the input ends are answered. */
export async function serveStreams(
  { input, output, authorization, signal }: McpStreams,
  identity: Identity,
  endpoint: string,
  createToolServer: CreateToolServer,
  logger: Logger,
): Promise<void> {
  const { serveStdio, StdioServerTransport } = loadStdio();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const calls = new RunningRequests();

  /** Delays the end of the input, at which the transport cancels all calls. */
  async function* readInput(): AsyncGenerator<unknown> {
    try {
      yield* input;
    } catch {
      return; // It was closed before its end.
    }
    await setImmediate(); // The transport gets the last chunk first.
    await calls.finished();
    await setImmediate(); // It sends the last response first.
  }

  class EndingTransport extends StdioServerTransport {
    override async close(): Promise<void> {
      await super.close();
      end();
    }
  }

  const caller = {
    request: {
      scheme: 'http' as const,
      host: undefined,
      remoteAddress: undefined,
      header: (name: string) => (name === 'authorization' ? authorization : undefined),
      toFetchRequest: () =>
        new Request(new URL(endpoint, 'http://localhost'), { method: 'POST', headers: { authorization } }),
    },
    endpoint,
    get requestId() {
      return toRequestId(undefined); // A new one for each call.
    },
    onCall: (call: Promise<unknown>) => calls.track(call),
  };
  const lines = Readable.from(readInput());
  output.once('close', end).once('error', end);
  const connection = serveStdio(() => createToolServer(caller, identity), {
    transport: new EndingTransport(lines, output),
    onerror: ({ message }) => logger.warn({ problem: message.slice(0, MAX_PROBLEM) }, 'mcp message rejected'),
  });
  signal?.addEventListener('abort', () => end(), { once: true });
  if (signal?.aborted !== true) {
    await ended;
  }
  await connection.close();
  lines.destroy();
}
