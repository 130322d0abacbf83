// Serves tools to AI agents with the Model Context Protocol (MCP), over HTTP and streams.

import { createRequire } from 'node:module';
import { Readable, type Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { refuse } from '../errors/codes.ts';
import { MCP_PATH, pathOf, readHead } from '../http/head.ts';
import type { Http } from '../http/http.ts';
import { type IncomingRequest, type OutgoingResponse, RunningRequests, toRequestId } from '../http/message.ts';
import { parseBody, readBody } from '../http/params.ts';
import { isRecord } from '../lib/is-record.ts';
import { findMessageProblem } from './protocol/messages.ts';
import { type CreateToolServer, createToolServers, loadProtocol } from './protocol/tool-server.ts';
import type { ToolFiles } from './tool-files.ts';

/** Streams to one client, such as standard input and output. Part of the package's types, so this file must not need the types of an optional package. */
export interface McpStreams {
  input: Readable;
  output: Writable;
  /** Credential of the client, as in the header `Authorization`. */
  authorization: string;
  /** Ends the connection when it is aborted, and cancels calls in flight. @default none */
  signal?: AbortSignal | undefined;
}

/** Creates the tools for AI agents. Both ways to call them differ only in how messages arrive. Calls go through the pipeline. */
export function createMcp(http: Http, tools: ToolFiles, schema: GraphQLSchema) {
  const { settings, upstreamSelector, admission, allowsOrigin, headOf, isKnownHost, createState, auth, logger } = http;
  const { endpoint, maxBodyBytes } = settings;
  const paths = upstreamSelector.pathsOf(MCP_PATH);
  const { createMcpHandler } = loadProtocol();
  const createToolServer = createToolServers(tools, schema, http);

  /** @throws {Refusal} METHOD_NOT_ALLOWED, FORBIDDEN, or one of `readHead` */
  function checkHead(request: IncomingRequest): void {
    if (request.method !== 'POST') {
      throw refuse('METHOD_NOT_ALLOWED', 'Use POST. This endpoint has no stream and no sessions.', {
        headers: { allow: 'POST' },
      });
    }
    const { scheme, host } = request;
    const origin = request.header('origin');
    const isOwn = origin === `${scheme}://${host}` && isKnownHost(host);
    if (origin !== undefined && !isOwn && !allowsOrigin(origin)) {
      throw refuse(
        'FORBIDDEN',
        'Pages of this origin may not call tools. Add it to clients.server.corsOrigins or clients.browser.corsOrigins.',
      ); // The specification requires it, against DNS rebinding.
    }
    readHead(request, paths, 'application/json'); // The protocol's package checks the header Accept.
  }

  /** Serves the protocol's Streamable HTTP, without sessions, so that any process can answer. Checks and rejects requests as the pipeline does. */
  async function route(request: IncomingRequest): Promise<OutgoingResponse> {
    const state = createState(request);
    const { requestId } = state;
    try {
      checkHead(request);
      const authenticated = await auth.authenticate(request.header('authorization'), requestId);
      if (authenticated.clientKind === 'anonymous') {
        throw auth.missingCredential(); // Clients ask for one when they connect.
      }
      const identity = upstreamSelector.identify(request, authenticated);
      state.identity = identity;
      const parsedBody = parseBody(await readBody(request, maxBodyBytes));
      if (Array.isArray(parsedBody)) {
        throw refuse('BAD_REQUEST', 'Batching is not supported; send one message per request.'); // One response limit and one slot per call.
      }
      const problem = findMessageProblem(parsedBody);
      if (problem !== undefined) {
        throw refuse('BAD_REQUEST', `The request ${problem}.`);
      }
      const method = methodOf(parsedBody);
      if (method !== 'tools/call') {
        await admission.take(identity);
      }
      let hasOwnLine = false;
      const caller = {
        request,
        endpoint: pathOf(request).slice(0, -MCP_PATH.length) + endpoint,
        requestId,
        onCall() {
          hasOwnLine = true;
        },
      };
      const handler = createMcpHandler(() => createToolServer(caller, identity), {
        keepAliveMs: 0,
        onerror: (error) => logger.debug({ requestId, problem: error.message }, 'mcp request rejected'),
      });
      const response = await handler.fetch(request.toFetchRequest(), { parsedBody });
      if (method === 'tools/call' && !hasOwnLine) {
        await admission.take(identity); // It names no tool. A call of one is an operation, which takes its own.
      }
      const { connection: _, 'cache-control': __, ...own } = Object.fromEntries(response.headers);
      const body = new Uint8Array(await response.arrayBuffer()); // It may have the form of a stream, but ends with the last result.
      logger[hasOwnLine ? 'debug' : 'info']({ requestId, method, httpStatus: response.status }, 'mcp');
      const headers = headOf(request, own, requestId);
      return { status: response.status, headers, body: body.length === 0 ? undefined : body };
    } catch (error) {
      return http.respond(state, { error });
    }
  }

  return {
    paths,
    route,
    /**
     * Serves one client over streams until one of them ends, or the signal is aborted.
     *
     * @throws {Refusal} UNAUTHENTICATED if the credential is not accepted
     */
    serve: (streams: McpStreams): Promise<void> => serveStreams(streams, http, createToolServer),
  };
}

/** Maximum length of a method's name in the log, because clients choose it. */
const MAX_METHOD = 50;

/** Returns the method of a message; `?` if it has none. */
const methodOf = (message: unknown): string =>
  isRecord(message) && typeof message.method === 'string' ? message.method.slice(0, MAX_METHOD) : '?';

/** Loads the part of the protocol's package for standard input and output. */
const loadStdio = (): typeof import('@modelcontextprotocol/server/stdio') =>
  createRequire(import.meta.url)('@modelcontextprotocol/server/stdio');

/** Maximum length of a problem in the log, which may quote what a client sent. */
const MAX_PROBLEM = 200;

/** Serves one client until a stream ends. Calls that are in flight when the input ends are answered. */
async function serveStreams(
  { input, output, authorization, signal }: McpStreams,
  { auth, settings: { endpoint }, logger }: Http,
  createToolServer: CreateToolServer,
): Promise<void> {
  const identity = await auth.authenticate(authorization);
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
