// The sandbox in memory, which records its requests and fails as scripted.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayDeps } from '../../../src/gateway.ts';
import { unknownName } from '../../../src/lib/words.ts';
import { DEVELOPMENT, ENVIRONMENTS } from '../../sandbox/src/environments.ts';
import { ApiError } from '../../sandbox/src/errors.ts';
import { DEFAULT_RATE_LIMIT } from '../../sandbox/src/rate-limit.ts';
import type { Records } from '../../sandbox/src/records.ts';
import { errorResponse, type SandboxResponse } from '../../sandbox/src/response.ts';
import { SAMPLES } from '../../sandbox/src/samples.ts';
import { sendResponse } from '../../sandbox/src/server.ts';
import { openService, type Service } from '../../sandbox/src/service.ts';
import {
  type ActiveTraits,
  isTrait,
  respondWithTraits,
  TRAIT_NAMES,
  type TraitName,
} from '../../sandbox/src/traits.ts';
import { createCall, type EnvironmentName, type UpstreamCall } from './calls.ts';
import { checkRecords } from './check-records.ts';
import { ENDPOINTS } from './endpoints.gen.ts';
import { matchRequest, sortByPrecedence } from './endpoints.ts';
import { type ActiveFault, type FaultResponse, Faults, type TakenFault } from './faults.ts';

/** Returns the response to a request for an endpoint that the sandbox doesn't have. */
export type Responder = (call: UpstreamCall) => ScriptedResponse | Promise<ScriptedResponse>;

/** Response of an endpoint that the sandbox doesn't have. */
export interface ScriptedResponse {
  /** @default 200; without a body, 204 */
  status?: number;
  /** JSON value. A text is sent as it is if `headers` has a content type other than JSON. @default none */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Sandbox in memory that records its requests, and fails as scripted. */
export class TestService {
  readonly faults: Faults;
  readonly #service: Service;
  readonly #traits: ActiveTraits;
  readonly #now: () => Date;
  readonly #responders: ReadonlyMap<string, Responder>;
  /** Those of the test first. */
  readonly #endpoints: readonly string[];
  readonly #server = new MemoryServer((request, response) => void this.#answer(request, response));
  readonly connect = this.#server.connect;
  /** Requests since the last reset, in the order in which they arrived. */
  calls: UpstreamCall[] = [];

  private constructor(
    service: Service,
    traits: ActiveTraits,
    now: () => Date,
    responders: ReadonlyMap<string, Responder>,
    declared: readonly string[],
  ) {
    this.#service = service;
    this.#traits = traits;
    this.#now = now;
    this.#responders = responders;
    this.#endpoints = [...new Set([...sortByPrecedence([...responders.keys(), ...declared]), ...ENDPOINTS])];
    this.faults = new Faults(this.#endpoints);
  }

  /**
   * @param declared endpoints of modules
   * @throws {TypeError} if a record is invalid
   */
  static async open(
    records: Records | 'sample',
    now: () => Date,
    endpoints: Readonly<Record<string, Responder | undefined>> = {},
    declared: readonly string[] = [],
  ): Promise<TestService> {
    const responders = new Map(
      Object.entries(endpoints).flatMap(([name, respond]) => (respond ? [[name, respond]] : [])),
    );
    const invalid = [...responders.keys()].find((name) => !/^(?:GET|POST|PUT|PATCH|DELETE) \/[^\s?]+$/.test(name));
    if (invalid !== undefined) {
      throw new TypeError(`The endpoint "${invalid}" must be a method and a path, such as "GET /v1/layouts/{id}".`);
    }
    const [samples, own] = records === 'sample' ? [SAMPLES, {}] : [[], records];
    checkRecords(own);
    const traits: ActiveTraits = new Map();
    const service = await openService({ file: ':memory:', rateLimit: DEFAULT_RATE_LIMIT, clock: now, samples, traits });
    service.add(DEVELOPMENT, own);
    service.keep();
    return new TestService(service, traits, now, responders, declared);
  }

  /** Adds records. @throws {TypeError} if one can't be written; then none is */
  add(records: Records, environment: EnvironmentName): void {
    const target = ENVIRONMENTS.find(({ name }) => name === environment);
    if (target === undefined) {
      throw new TypeError(`Unknown environment "${environment}". Use "development" or "production".`);
    }
    checkRecords(records);
    this.#service.add(target, records);
  }

  /** Switches a trait on. @throws {TypeError} if there is no such trait */
  behave(name: TraitName): ActiveFault {
    if (!isTrait(name)) {
      throw new TypeError(`The service has the ${unknownName(name, TRAIT_NAMES, 'trait')}.`);
    }
    this.#traits.set(name, new Set());
    const recover = () => void this.#traits.delete(name);
    return { recover, [Symbol.dispose]: recover };
  }

  /** Breaks all connections, which ends requests that are in flight. */
  disconnect(): void {
    this.#server.breakAll(connectionReset);
  }

  /** Restores the first records, and forgets faults, traits and calls. */
  reset(): void {
    this.faults.recover();
    this.#traits.clear();
    this.calls = [];
    this.#service.reset();
  }

  close(): void {
    this.#service[Symbol.dispose]();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, socket } = incoming;
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) {
      return; // Disconnected.
    }
    const request = Object.assign(Readable.from([body]), { method, url, headers, socket, complete: true });
    const match = matchRequest(method, url, this.#endpoints);
    const call = createCall(request, match, body);
    this.calls.push(call);
    const responder = this.#responders.get(match.endpoint);
    const respond = () =>
      respondWithTraits(this.#traits, request, async () =>
        responder === undefined ? this.#service.respond(request) : toResponse(await responder(call)),
      );
    const taken = this.faults.take(match);
    const response = await (taken === undefined ? respond() : this.#fail(incoming, respond, taken));
    if (response !== undefined && !outgoing.destroyed) {
      call.status = response.status;
      await sendResponse(outgoing, response);
    }
  }

  /** Returns the response of a fault; undefined if it has none. */
  async #fail(
    incoming: IncomingMessage,
    respond: () => Promise<SandboxResponse | undefined>,
    { fault, applied }: TakenFault,
  ): Promise<SandboxResponse | undefined> {
    const usual = applied ? await respond() : undefined;
    switch (fault) {
      case 'timeout':
        this.#server.break(incoming, new DOMException('The operation timed out.', 'TimeoutError'));
        return undefined;
      case 'disconnect':
        this.#server.break(incoming, connectionReset());
        return undefined;
      case 'invalid-json':
        return { status: 200, body: '{"data":', headers: {} };
      default: {
        await delay(incoming, fault.delayMs);
        if (incoming.socket.destroyed) {
          return undefined;
        }
        const response = scriptedResponse(fault, incoming.url ?? '/', this.#now) ?? usual ?? (await respond());
        return response && { ...response, headers: { ...response.headers, ...fault.headers } };
      }
    }
  }
}

const isJson = (headers: Readonly<Record<string, string>>): boolean =>
  /json/i.test(new Headers(headers).get('content-type') ?? 'json');

const toResponse = ({
  body,
  status = body === undefined ? 204 : 200,
  headers = {},
}: ScriptedResponse): SandboxResponse => ({
  status,
  body: body === undefined ? null : typeof body === 'string' && !isJson(headers) ? body : JSON.stringify(body),
  headers,
});

/** Returns the response that a fault describes; undefined if it is that of the service. */
function scriptedResponse({ status, body }: FaultResponse, path: string, now: () => Date): SandboxResponse | undefined {
  if (body !== undefined) {
    return { status: status ?? 200, body: typeof body === 'string' ? body : JSON.stringify(body), headers: {} };
  }
  return status === undefined ? undefined : errorResponse(new ApiError(status, 'Scripted failure.'), path, now);
}

/** Waits, but only while the client is connected. */
async function delay({ socket }: IncomingMessage, milliseconds: number | undefined): Promise<void> {
  if (milliseconds !== undefined) {
    const gone = new AbortController();
    const abort = () => gone.abort();
    socket.once('close', abort);
    await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => {});
    socket.removeListener('close', abort);
  }
}

const connectionReset = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** HTTP server without a port: connections to it are pairs of streams in memory. */
class MemoryServer {
  readonly #server: Server;
  /** Ends of connections: the client's by the server's. */
  readonly #clients = new Map<Duplex, Duplex>();

  constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  readonly connect: NonNullable<GatewayDeps['connect']> = (_options, callback) => {
    const [client, service] = duplexPair();
    this.#clients.set(service, client);
    client.once('close', () => service.destroy());
    service.once('close', () => {
      this.#clients.delete(service);
      client.destroy();
    });
    this.#server.emit('connection', service);
    queueMicrotask(() => callback(null, client as Socket)); // undici uses it only as a stream.
  };

  /** Breaks the connection of a request. The client sees the error. */
  break(request: IncomingMessage, error: Error): void {
    this.#clients.get(request.socket)?.destroy(error);
  }

  breakAll(error: () => Error): void {
    for (const client of this.#clients.values()) {
      client.destroy(error());
    }
  }
}
