// Serves one AI agent over streams, such as standard input and output.

import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Identity } from '../../auth/identity.ts';
import { createCondition } from '../../lib/condition.ts';
import { toRequestId } from '../head.ts';
import type { McpStreams } from './messages.ts';
import type { CreateToolServer } from './tool-server.ts';

/** Loads the part of the protocol's package for standard input and output. */
const loadStdio = (): typeof import('@modelcontextprotocol/server/stdio') =>
  createRequire(import.meta.url)('@modelcontextprotocol/server/stdio');

/** Maximum length of a problem in the log, which may quote what a client sent. */
const MAX_PROBLEM = 200;

/** Serves one client until a stream ends. Requests that are in flight when the input ends are answered. */
export async function serveStreams(
  { input, output, authorization, signal }: McpStreams,
  identity: Identity,
  endpoint: string,
  createToolServer: CreateToolServer,
  logger: Logger,
): Promise<void> {
  const { serveStdio, StdioServerTransport } = loadStdio();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const pending = createPendingRequests();

  /** Delays the end of the input, at which the transport would cancel all requests. */
  async function* readInput(): AsyncGenerator<unknown> {
    try {
      yield* input;
    } catch {
      return; // It was closed before its end.
    }
    await setImmediate(); // The transport gets the last chunk first.
    await pending.answered();
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
  };
  const lines = Readable.from(readInput());
  const transport = pending.watch(new StdioServerTransport(lines, output), end);
  output.once('close', end).once('error', end);
  const connection = serveStdio(() => createToolServer(caller, identity), {
    transport,
    onerror: ({ message }) => logger.warn({ problem: message.slice(0, MAX_PROBLEM) }, 'mcp message rejected'),
  });
  signal?.addEventListener('abort', () => end(), { once: true });
  if (signal?.aborted !== true) {
    await ended;
  }
  await connection.close();
  lines.destroy();
}

/** Creates the record of a client's requests that are not answered yet. */
function createPendingRequests() {
  const pending = new Set<unknown>();
  const allAnswered = createCondition(() => pending.size === 0);

  function remove(id: unknown): void {
    pending.delete(id);
    allAnswered.check();
  }

  function onReceived(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) {
      pending.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      remove(message.params?.requestId); // It gets no response.
    }
  }

  return {
    /** Returns a transport that does the same as another one, and keeps track of its requests. Calls `onClose` when it closes. */
    watch(inner: Transport, onClose: () => void): Transport {
      const outer: Transport = {
        start() {
          inner.onmessage = (message, extra) => {
            onReceived(message);
            outer.onmessage?.(message, extra);
          };
          inner.onerror = (error) => outer.onerror?.(error);
          inner.onclose = () => {
            outer.onclose?.();
            onClose();
          };
          return inner.start();
        },
        async send(message, options) {
          await inner.send(message, options);
          if (!('method' in message)) {
            remove(message.id);
          }
        },
        close: () => inner.close(),
      };
      return outer;
    },
    /** Resolves once all requests received so far are answered or cancelled. */
    answered: allAnswered.met,
  };
}
