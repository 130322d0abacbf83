// Composes the clients of all configured upstreams: connections, policies, cache, and what is bound to a caller.

import type { Logger } from 'pino';
import { createSharedResources, type SharedResource } from '../lib/shared-resources.ts';
import { Abort } from '../lib/signal.ts';
import { readSecret } from '../settings/kinds.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { CacheSettings } from '../settings/stores.ts';
import { CachedService } from './cache/cached-service.ts';
import { MemoryStore } from './cache/memory-store.ts';
import { RedisCacheStore } from './cache/redis-store.ts';
import { type CacheStore, findEmptied, type ServiceCache } from './cache/store.ts';
import { type CallAuthor, type Caller, OperationClient } from './client.ts';
import type { ReportDeviation } from './contract/drift.ts';
import type { DeclaredEndpoint } from './endpoint.ts';
import { kindOf } from './endpoint-options.ts';
import { CONTRACT } from './endpoints.ts';
import type { ReportCircuitChange } from './policies/circuit-breaker.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { type CallTarget, Service, type ServiceDeps } from './service.ts';
import type { Connect } from './transport/connector.ts';
import { serviceAddressOf } from './transport/path.ts';
import { probeUpstream } from './transport/probe.ts';
import { type ResponseBuffer, SocketPool } from './transport/socket-pool.ts';
import { createTlsFiles, nameProblems } from './transport/tls-files.ts';

type SettingsOfUpstream = Omit<GatewaySettings, 'upstream'> & { upstreamUrl: URL };

interface UpstreamsDeps extends Pick<ServiceDeps, 'monotonicNow' | 'random' | 'breakerMinimumCalls'> {
  logger: Logger;
  now: () => Date;
  /** Endpoints that operations can call. @default those of the contract */
  endpoints?: readonly DeclaredEndpoint[];
  cacheStores: CacheStores;
  /** Opens connections to the services. @default over the network */
  connect?: Connect | undefined;
  /** Returns the function that is called when an upstream's circuit breaker opens and closes. @default none */
  circuitReporterOf?: ((name: string | undefined) => ReportCircuitChange) | undefined;
  /** Returns the function that is called for an upstream's deviations from the contract. @default none */
  deviationReporterOf?: ((name: string | undefined) => ReportDeviation) | undefined;
}

/** Service that calls can be sent to. `target` is its cache, if it has one. */
type Upstream = ReturnType<typeof openUpstream> & { cached: ServiceCache | undefined; target: CallTarget };

/** Services that calls can be sent to. Each has its own connections, policies and limits. */
export class Upstreams {
  readonly #buffer: ResponseBuffer;
  readonly #closing = new Abort();
  readonly #cache: SharedResource<CacheStore> | undefined;
  readonly #byName: ReadonlyMap<string | undefined, Upstream>;

  /**
   * @throws {SecretError} if a certificate, a key, a header or the secret of the cache is invalid
   * @throws {MissingPackageError} if the cache is in Redis, but its client is not installed
   */
  constructor(settings: GatewaySettings, deps: UpstreamsDeps) {
    const { endpoints = CONTRACT, cacheStores, monotonicNow } = deps;
    this.#buffer = { bytes: 0, maxBytes: settings.maxBufferedBytes };
    const opened = listUpstreams(settings).map(([name, own]) => openUpstream(name, own, this.#buffer, deps));
    const cacheSettings = settings.cache || undefined;
    const cache = cacheSettings && cacheStores.open(cacheSettings, monotonicNow); // After the files, which may be invalid.
    const emptied = findEmptied(endpoints);
    const kinds = [...new Set(endpoints.flatMap(({ cached: read }) => (read === undefined ? [] : kindOf(read))))];
    this.#cache = cache;
    this.#byName = new Map(
      opened.map((upstream) => {
        const { own, service } = upstream;
        const { attemptTimeoutMs } = own;
        const cached = cache && { store: cache.resource, settings: cacheSettings, address: cacheAddressOf(own) };
        const target: CallTarget = cached
          ? new CachedService({ ...cached, kinds, emptied, service, attemptTimeoutMs, closing: this.#closing })
          : service;
        return [upstream.name, { ...upstream, cached, target }];
      }),
    );
  }

  #find(name: string | undefined): Upstream {
    const upstream = this.#byName.get(name);
    if (upstream === undefined) {
      throw new Error('The upstream of a call is not configured.');
    }
    return upstream;
  }

  /**
   * Binds the client of an upstream to one caller.
   *
   * @param name one of the configured names; undefined for the only upstream, which has no name
   */
  bind(name: string | undefined, caller: Caller): OperationClient {
    const { own, target } = this.#find(name);
    return new OperationClient(own, target, caller);
  }

  /** Whether an upstream has accepted an API key within the last minute. */
  hasAccepted(name: string | undefined, credential = ''): boolean {
    return this.#find(name).service.hasAccepted(credential);
  }

  /** Whether the last response to an API key shows that an upstream knows it. */
  knows(name: string | undefined, credential = ''): boolean {
    return this.#find(name).service.knows(credential);
  }

  /** Binds a recorder of calls to an upstream, which sends nothing, to one caller. */
  record(name: string | undefined, caller: CallAuthor): Recorder {
    const { own, cached } = this.#find(name);
    return createRecorder(own, cached, caller);
  }

  /** Sends one read without a key to each. Returns a sentence for each one that has a problem; undefined if there is none. */
  async check(): Promise<string | undefined> {
    const probes = [...this.#byName.values()].map(({ name, own, pool }) => probeUpstream(own.upstreamUrl, pool, name));
    return (await Promise.all(probes)).filter((problem) => problem !== undefined).join(' ') || undefined;
  }

  /** Returns the state of each upstream, by its name. */
  states() {
    return Array.from(this.#byName, ([name, { service }]) => [name, service.state()] as const);
  }

  /** Bytes of responses that are being received, from all upstreams. */
  get bufferedBytes(): number {
    return this.#buffer.bytes;
  }

  /** Store of the cache; undefined if nothing is cached. */
  get cacheStore(): CacheStore | undefined {
    return this.#cache?.resource;
  }

  /** Certificates and headers to reload. */
  get files() {
    return [...this.#byName.values()].flatMap(({ files }) => files);
  }

  /** Closes the connections once in-flight calls have ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#byName.values(), ({ pool }) => pool.close()));
    await this.#cache?.release();
  }
}

/** Reads the files of an upstream, and creates its connections, which open when they are needed. */
function openUpstream(
  name: string | undefined,
  own: SettingsOfUpstream,
  buffer: ResponseBuffer,
  { logger, now, connect, circuitReporterOf, deviationReporterOf, ...deps }: UpstreamsDeps,
) {
  const tls = readTls(name, own, logger, now);
  const pool = new SocketPool(own.upstreamUrl.origin, own, {
    buffer,
    tls,
    onTunnel: logProxyProblems(logger, name),
    connect,
    monotonicNow: deps.monotonicNow,
  });
  const service = new Service(own, {
    ...deps,
    pool,
    reportDeviation: deviationReporterOf?.(name),
    reportCircuitChange: circuitReporterOf?.(name),
  });
  const files = [tls, own.upstreamHeaders && pool.headers].filter((each) => each !== undefined);
  return { name, own, pool, service, files };
}

function readTls(name: string | undefined, { tls }: SettingsOfUpstream, logger: Logger, now: () => Date) {
  const files =
    tls &&
    createTlsFiles(tls, (expiry) => {
      if (expiry < now()) {
        logger.warn({ upstream: name, expiry }, 'The client certificate for the upstream has expired.');
      }
    });
  const owner = name === undefined ? '' : ` of the upstream ${name}`;
  return files && nameProblems(files, (setting) => `tls.${setting}${owner}`);
}

/** Returns the address that cached reads belong to: headers can lead to other data at the same address. */
const cacheAddressOf = ({ upstreamUrl, upstreamHeaders }: SettingsOfUpstream): string =>
  serviceAddressOf(upstreamUrl) + (upstreamHeaders === undefined ? '' : ` ${JSON.stringify(upstreamHeaders)}`);

/** Returns the settings of each upstream by name. The only upstream of `upstream` has no name. */
function listUpstreams(settings: GatewaySettings): (readonly [string | undefined, SettingsOfUpstream])[] {
  const { upstream, upstreams } = settings;
  if (upstreams !== undefined) {
    return Object.entries(upstreams).map(([name, { url, ...own }]) => [
      name,
      { ...settings, ...own, upstreamUrl: new URL(url) },
    ]);
  }
  return upstream === undefined ? [] : [[undefined, { ...settings, upstreamUrl: new URL(upstream) }]];
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

/** Stores of caches. Gateways with the same one share it, so that a gateway that replaces another one keeps what is stored. */
export class CacheStores {
  readonly #logger: Logger;
  readonly #redisTimeoutMs: number | undefined;
  readonly #stores = createSharedResources<CacheStore>();

  /** @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100 */
  constructor(logger: Logger, redisTimeoutMs?: number) {
    this.#logger = logger;
    this.#redisTimeoutMs = redisTimeoutMs;
  }

  /**
   * Opens a store.
   *
   * @param now monotonic clock, in milliseconds. @default performance.now
   * @throws {SecretError} if the secret, the URL or the certificates can't be read, or are invalid
   * @throws {MissingPackageError} if the store is Redis and its client is not installed
   */
  open({ store, secret: source = '', maxBytes }: CacheSettings, now?: () => number): SharedResource<CacheStore> {
    if (store === 'memory') {
      return this.#stores.open(JSON.stringify([store, maxBytes]), () => new MemoryStore({ maxBytes, now }));
    }
    const { redis } = store;
    const secret = readSecret('cacheSecret', source);
    const shared = { logger: this.#logger, timeoutMs: this.#redisTimeoutMs };
    const options = { ...redis, ...shared, prefix: `${redis.keyPrefix}cache:`, secret };
    return this.#stores.open(JSON.stringify([store, secret]), () => new RedisCacheStore(options));
  }
}
