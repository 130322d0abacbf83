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
import { type CacheStore, findEmptied } from './cache/store.ts';
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
import { createTlsFiles, nameProblems, type TlsFiles } from './transport/tls-files.ts';

/** Services that calls can be sent to. Each has its own connections, policies and limits. */
export type Upstreams = ReturnType<typeof createUpstreams>;

type SettingsOfUpstream = Omit<GatewaySettings, 'upstream'> & { upstreamUrl: URL };

/**
 * Creates the clients of all upstreams.
 *
 * @throws {SecretError} if a certificate, a key, a header or the secret of the cache is invalid
 * @throws {MissingPackageError} if the cache is in Redis, but its client is not installed
 */
export function createUpstreams(
  settings: GatewaySettings,
  {
    logger,
    now,
    endpoints = CONTRACT,
    cacheStores,
    connect,
    circuitReporterOf,
    deviationReporterOf,
    ...deps
  }: Pick<ServiceDeps, 'monotonicNow' | 'random' | 'breakerMinimumCalls'> & {
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
  },
) {
  const buffer: ResponseBuffer = { bytes: 0, maxBytes: settings.maxBufferedBytes };
  const closing = new Abort();
  const emptied = findEmptied(endpoints);
  const kinds = [...new Set(endpoints.flatMap(({ cached: read }) => (read === undefined ? [] : kindOf(read))))];
  const opened = listUpstreams(settings).map(([name, own]) => {
    const tls = readTls(name, own);
    const pool = new SocketPool(own.upstreamUrl.origin, own, {
      buffer,
      tls,
      onTunnel: logProxyProblems(logger, name),
      connect,
      monotonicNow: deps.monotonicNow,
    });
    return { name, own, pool, files: [tls, own.upstreamHeaders && pool.headers] };
  });
  const cacheSettings = settings.cache || undefined;
  const cache = cacheSettings && cacheStores.open(cacheSettings, deps.monotonicNow); // After the files, which may be invalid.

  function readTls(name: string | undefined, { tls }: SettingsOfUpstream): TlsFiles | undefined {
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

  const byName = new Map(
    opened.map(({ name, own, pool }) => {
      const service = new Service(own, {
        ...deps,
        pool,
        reportDeviation: deviationReporterOf?.(name),
        reportCircuitChange: circuitReporterOf?.(name),
      });
      const cached = cache && { store: cache.resource, settings: cacheSettings, address: cacheAddressOf(own) };
      const { attemptTimeoutMs } = own;
      const target: CallTarget = cached
        ? new CachedService({ ...cached, kinds, emptied, service, attemptTimeoutMs, closing })
        : service;
      return [name, { own, service, cached, target }] as const;
    }),
  );

  function find(name: string | undefined) {
    const upstream = byName.get(name);
    if (upstream === undefined) {
      throw new Error('The upstream of a call is not configured.');
    }
    return upstream;
  }

  return {
    /**
     * Binds the client of an upstream to one caller.
     *
     * @param name one of the configured names; undefined for the only upstream, which has no name
     */
    bind(name: string | undefined, caller: Caller): OperationClient {
      const { own, target } = find(name);
      return new OperationClient(own, target, caller);
    },
    /** Whether an upstream has accepted an API key within the last minute. */
    hasAccepted: (name: string | undefined, credential = '') => find(name).service.hasAccepted(credential),
    /** Binds a recorder of calls to an upstream, which sends nothing, to one caller. */
    record(name: string | undefined, caller: CallAuthor): Recorder {
      const { own, cached } = find(name);
      return createRecorder(own, cached, caller);
    },
    /** Sends one read without a key to each. Returns a sentence for each one that has a problem; undefined if there is none. */
    async check(): Promise<string | undefined> {
      const problems = await Promise.all(
        opened.map(({ name, own, pool }) => probeUpstream(own.upstreamUrl, pool, name)),
      );
      return problems.filter((problem) => problem !== undefined).join(' ') || undefined;
    },
    /** Returns the state of each upstream, by its name. */
    states: () => [...byName].map(([name, { service }]) => [name, service.state()] as const),
    /** Returns the bytes of responses that are being received, from all upstreams. */
    bufferedBytes: () => buffer.bytes,
    /** Store of the cache; undefined if nothing is cached. */
    cacheStore: cache?.resource,
    /** Certificates and headers to reload. */
    files: opened.flatMap(({ files }) => files).filter((files) => files !== undefined),
    /** Closes the connections once in-flight calls have ended. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(opened.map(({ pool }) => pool.close()));
      await cache?.release();
    },
  };
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
type CacheStores = ReturnType<typeof createCacheStores>;

/**
 * Creates an empty set of stores.
 *
 * @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100
 */
export function createCacheStores(logger: Logger, redisTimeoutMs?: number) {
  const stores = createSharedResources<CacheStore>();
  return {
    /**
     * Opens a store.
     *
     * @param now monotonic clock, in milliseconds. @default performance.now
     * @throws {SecretError} if the secret, the URL or the certificates can't be read, or are invalid
     * @throws {MissingPackageError} if the store is Redis and its client is not installed
     */
    open({ store, secret: source = '', maxBytes }: CacheSettings, now?: () => number): SharedResource<CacheStore> {
      if (store === 'memory') {
        return stores.open(JSON.stringify([store, maxBytes]), () => new MemoryStore({ maxBytes, now }));
      }
      const { redis } = store;
      const secret = readSecret('cacheSecret', source);
      return stores.open(
        JSON.stringify([store, secret]),
        () =>
          new RedisCacheStore({
            ...redis,
            prefix: `${redis.keyPrefix}cache:`,
            secret,
            logger,
            timeoutMs: redisTimeoutMs,
          }),
      );
    },
  };
}
