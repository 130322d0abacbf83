// Opens a service: the gateway's client for its callers, and single requests of commands that examine it.

import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { errorCodeOf } from '../lib/caught.ts';
import { addressOf, toHostname } from '../lib/urls.ts';
import { type Connect, createConnector, ProxyError } from '../network/connector.ts';
import { createTlsFiles, nameProblems } from '../network/tls-files.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { BoundedClient } from './calls/bounded-client.ts';
import type { CachedService } from './calls/cached-service.ts';
import { createRecorder } from './calls/recorder.ts';
import { Service, type ServiceDeps } from './calls/service.ts';
import type { CallAuthor, Caller, Deviation, OperationClient, ServiceState } from './calls.ts';
import { findDeviations } from './contract/drift.ts';
import { isEnvelope } from './declaration/response-form.ts';
import type { CallArgs, DeclaredEndpoint } from './endpoint.ts';
import type { RateLimitState } from './errors.ts';
import { type Progress, receive } from './transport/attempt.ts';
import { BodyError, headerOf, planBody, readErrorBody, readSuccess } from './transport/body.ts';
import { fillPath, headersOf, pathPrefixOf, serviceAddressOf } from './transport/encode-args.ts';
import { readRateLimit, toDispatchOptions } from './transport/exchange.ts';
import { probeUpstream } from './transport/probe.ts';
import { type ResponseBuffer, SocketPool } from './transport/socket-pool.ts';
import { errorFromFailure, isForeign, parseRetryAfter } from './transport/to-error.ts';

export type SettingsOfService = Omit<GatewaySettings, 'upstream' | 'upstreams'> & { upstreamUrl: URL };

export interface OpenServiceDeps extends Omit<ServiceDeps, 'pool'> {
  /** @default nothing is logged */
  logger?: Logger;
  /** @default the clock of the system */
  now?: () => Date;
  /** Opens connections to the service. @default over the network */
  connect?: Connect | undefined;
}

/** One read, outside of an operation. */
export interface SingleRead {
  endpoint: DeclaredEndpoint;
  /** @default none */
  args?: CallArgs;
  headers?: Readonly<Record<string, string>>;
  /** `Authorization` header. @default none */
  credential?: string | undefined;
}

export interface SingleResponse {
  status: number;
  /** Returns a header by its name in lower case; undefined if there is none. */
  header: (name: string) => string | undefined;
  rateLimit: RateLimitState | undefined;
  /** `Retry-After`, in seconds. */
  retryAfterSeconds: number | undefined;
  /** Body without its envelope; undefined if it is no JSON, or the status isn't 2xx. */
  body?: unknown;
  /** Whether the body has an envelope. @default false */
  isEnvelope?: boolean;
  /** Differences to the contract. @default none */
  deviations?: readonly Deviation[];
  /** Reason why a 2xx response can't be used, as a clause. */
  bodyProblem?: string;
  /** Whether something else than the service answered. @default false */
  isForeign?: boolean;
  bytes: number;
  ms: number;
}

export { ProxyError };

/** A read that got no response. Its message is a sentence that doesn't quote the service, which could repeat the key. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** Records the calls of one caller instead of sending them. */
export type Recorder = ReturnType<typeof createRecorder>;

/** Parts of a service. Its cache is opened later, once all files are valid. */
export type ServiceParts = ReturnType<typeof openParts>;

/** A service, to which all its callers share connections, policies and limits. */
export class UpstreamService {
  readonly settings: SettingsOfService;
  /** Certificates and headers to reload. */
  readonly files: ServiceParts['files'];
  readonly #parts: ServiceParts;
  readonly #cached: CachedService | undefined;

  /** @param cached answers its calls with a cache. @default none */
  constructor(parts: ServiceParts, cached?: CachedService) {
    this.settings = parts.own;
    this.files = parts.files;
    this.#parts = parts;
    this.#cached = cached;
  }

  /** Address of the service, the same for all ways to write it. */
  get address(): string {
    return serviceAddressOf(this.settings.upstreamUrl);
  }

  /** Binds a client to one caller. */
  bind(caller: Caller): OperationClient {
    return new BoundedClient(this.settings, this.#cached ?? this.#parts.service, caller);
  }

  /** Binds a recorder of calls, which sends nothing, to one caller. */
  record(caller: CallAuthor): Recorder {
    return createRecorder(this.settings, this.#cached?.cache, caller);
  }

  /** Whether it has accepted an API key within the last minute. */
  hasAccepted(credential = ''): boolean {
    return this.#parts.service.hasAccepted(credential);
  }

  /** Whether its last response to an API key shows that it knows the key. */
  knows(credential = ''): boolean {
    return this.#parts.service.knows(credential);
  }

  state(): ServiceState {
    return this.#parts.service.state();
  }

  /** Sends one read without a key. Returns a sentence if there is a problem. */
  probe(): Promise<string | undefined> {
    return probeUpstream(this.settings.upstreamUrl, this.#parts.pool, this.#parts.name);
  }

  /** Opens one more connection as calls do. Nothing is sent on it. @throws {ProxyError} if the proxy fails */
  connect(): Promise<Socket> {
    const { upstreamUrl: url } = this.settings;
    const { host, protocol, port } = url;
    const open = createConnector(this.settings, { tls: this.#parts.tls });
    return new Promise((resolve, reject) => {
      open({ hostname: addressOf(url), host: toHostname(host), protocol, port }, (error, socket) =>
        error === null ? resolve(socket.on('error', () => {})) : reject(error),
      );
    });
  }

  /** Sends a read once, without policies. @throws {NoResponse} if there is no response */
  async readOnce({ endpoint, args = {}, headers, credential = '' }: SingleRead): Promise<SingleResponse> {
    const { upstreamUrl, attemptTimeoutMs, maxUpstreamResponseBytes } = this.settings;
    const path = pathPrefixOf(upstreamUrl) + fillPath(endpoint, args);
    const declared = { ...(endpoint.headers && headersOf(endpoint, endpoint.headers, args)), ...headers };
    const call = { endpoint, credential, callerId: credential, path, requestId: 'doctor', args, headers: declared };
    const request = toDispatchOptions(upstreamUrl.origin, { ...call, body: undefined }, undefined);
    const { authorization: _, ...withoutKey } = request.headers ?? {};
    const startedAt = performance.now();
    const attempt = receive(this.#parts.pool, credential === '' ? { ...request, headers: withoutKey } : request, {
      credential,
      timeoutMs: endpoint.timeoutMs ?? attemptTimeoutMs,
      planBody: (status, received) => planBody(status, received, maxUpstreamResponseBytes, endpoint.expect),
    });
    const response = await attempt.response.catch((failure: unknown) => {
      throw new NoResponse(explain(endpoint, failure, attempt.progress));
    });
    const { status, headers: received, body } = response;
    const result = {
      status,
      header: (name: string) => headerOf(received, name),
      rateLimit: readRateLimit(status, received),
      retryAfterSeconds: parseRetryAfter(headerOf(received, 'retry-after')),
      bytes: body?.byteLength ?? 0,
      ms: performance.now() - startedAt,
    };
    if (status > 299) {
      return { ...result, isForeign: isForeign(endpoint, { status, body: readErrorBody(response) }) };
    }
    try {
      const { sent, body: content } = readSuccess(response, endpoint);
      const deviations = findDeviations(endpoint, sent);
      return { ...result, body: content, isEnvelope: isEnvelope(sent), deviations };
    } catch (error) {
      if (error instanceof BodyError) {
        return { ...result, bodyProblem: error.message };
      }
      throw error;
    }
  }

  /** Closes the connections once in-flight calls have ended. */
  close(): Promise<void> {
    return this.#parts.pool.close();
  }
}

/** Returns a sentence for a request without a response. */
function explain(endpoint: DeclaredEndpoint, failure: unknown, progress: Progress): string {
  const { message } = errorFromFailure(endpoint, failure, progress);
  const code = errorCodeOf(failure);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? message.replace(/\.$/, ` (${code}).`) : message;
}

/**
 * Opens a service without a cache. Connections open when they are needed.
 *
 * @throws {SecretError} if a certificate, a key or a header is invalid
 */
export const openService = (url: URL, settings: Omit<SettingsOfService, 'upstreamUrl'>, deps: OpenServiceDeps = {}) =>
  new UpstreamService(openParts(undefined, { ...settings, upstreamUrl: url }, deps));

/** Reads the files of a service, and creates what its calls share. */
export function openParts(
  name: string | undefined,
  own: SettingsOfService,
  { logger, now = () => new Date(), connect, ...deps }: OpenServiceDeps,
  buffer: ResponseBuffer = { bytes: 0, maxBytes: own.maxBufferedBytes },
) {
  const tls = readTls(name, own, logger, now);
  const pool = new SocketPool(own.upstreamUrl.origin, own, {
    buffer,
    tls,
    onTunnel: logger && logProxyProblems(logger, name),
    connect,
    monotonicNow: deps.monotonicNow,
  });
  const service = new Service(own, { ...deps, pool });
  const files = [tls, own.upstreamHeaders && pool.headers].filter((each) => each !== undefined);
  return { name, own, tls, pool, service, files };
}

function readTls(name: string | undefined, { tls }: SettingsOfService, logger: Logger | undefined, now: () => Date) {
  const files =
    tls &&
    createTlsFiles(tls, (expiry) => {
      if (expiry < now()) {
        logger?.warn({ upstream: name, expiry }, 'The client certificate for the upstream has expired.');
      }
    });
  const owner = name === undefined ? '' : ` of the upstream ${name}`;
  return files && nameProblems(files, (setting) => `tls.${setting}${owner}`);
}

/** Returns a function that logs a problem of the proxy once, and when it is over. */
function logProxyProblems(logger: Logger, upstreamName: string | undefined): (problem: string | undefined) => void {
  let logged: string | undefined;
  return (problem) => {
    if (problem === logged) {
      return;
    }
    logged = problem;
    if (problem === undefined) {
      logger.info({ upstream: upstreamName }, 'The proxy to the upstream works again.');
    } else {
      logger.warn({ upstream: upstreamName, reason: problem }, 'The proxy to the upstream fails.');
    }
  };
}
