// Opens all configured services of a gateway, which share a cache and a bound on what they receive at a time.

import { createSharedResources, type SharedResource } from '../lib/shared-resources.ts';
import { Abort } from '../lib/signal.ts';
import type { SharedRedisOptions } from '../redis/redis.ts';
import { readSecret } from '../settings/kinds.ts';
import type { CacheSettings, GatewaySettings } from '../settings/settings.ts';
import { MemoryStore } from './cache/memory-store.ts';
import { RedisCacheStore } from './cache/redis-store.ts';
import type { CacheStore } from './cache/store.ts';
import { CachedService } from './calls/cached-service.ts';
import type { ReportCircuitChange, ReportDeviation } from './calls.ts';
import { type DeclaredEndpoint, findEmptied } from './endpoint.ts';
import { CONTRACT } from './endpoints.ts';
import { type OpenServiceDeps, openParts, type SettingsOfService, UpstreamService } from './service.ts';
import { serviceAddressOf } from './transport/encode-args.ts';
import type { ResponseBuffer } from './transport/socket-pool.ts';

interface UpstreamsDeps extends Omit<OpenServiceDeps, 'reportCircuitChange' | 'reportDeviation'> {
  /** Endpoints that operations can call. @default those of the contract */
  endpoints?: readonly DeclaredEndpoint[];
  cacheStores: CacheStores;
  /** Returns the function that is called when an upstream's circuit breaker opens and closes. @default none */
  circuitReporterOf?: ((name: string | undefined) => ReportCircuitChange) | undefined;
  /** Returns the function that is called for an upstream's deviations from the contract. @default none */
  deviationReporterOf?: ((name: string | undefined) => ReportDeviation) | undefined;
}

/** Services that calls can be sent to. Each has its own connections, policies and limits. */
export class Upstreams {
  readonly #buffer: ResponseBuffer;
  readonly #closing = new Abort();
  readonly #cache: SharedResource<CacheStore> | undefined;
  readonly #byName: ReadonlyMap<string | undefined, UpstreamService>;

  /**
   * @throws {SecretError} if a certificate, a key, a header or the secret of the cache is invalid
   * @throws {SetupError} if the cache is in Redis, but its client is not installed
   */
  constructor(settings: GatewaySettings, deps: UpstreamsDeps) {
    const { endpoints = CONTRACT, cacheStores, circuitReporterOf, deviationReporterOf, ...shared } = deps;
    this.#buffer = { bytes: 0, maxBytes: settings.maxBufferedBytes };
    const opened = listUpstreams(settings).map(([name, own]) => {
      const reports = { reportCircuitChange: circuitReporterOf?.(name), reportDeviation: deviationReporterOf?.(name) };
      return openParts(name, own, { ...shared, ...reports }, this.#buffer);
    });
    // After the files, which may be invalid.
    const { cache } = settings;
    this.#cache = cache ? cacheStores.open(cache, deps.monotonicNow) : undefined;
    const emptied = findEmptied(endpoints);
    const kinds = [...new Set(endpoints.flatMap(({ cached }) => (cached === undefined ? [] : cached.kind)))];
    this.#byName = new Map(
      opened.map((parts) => {
        const { name, own, service } = parts;
        const calls = { kinds, emptied, service, attemptTimeoutMs: own.attemptTimeoutMs, closing: this.#closing };
        const store = this.#cache?.resource;
        const stored = cache && store && { store, settings: cache, address: cacheAddressOf(own) };
        return [name, new UpstreamService(parts, stored ? new CachedService({ ...stored, ...calls }) : undefined)];
      }),
    );
  }

  /**
   * Returns a service.
   *
   * @param name one of the configured names; undefined for the only upstream, which has no name
   */
  of(name: string | undefined): UpstreamService {
    const upstream = this.#byName.get(name);
    if (upstream === undefined) {
      throw new Error('The upstream of a call is not configured.');
    }
    return upstream;
  }

  /** Sends one read without a key to each. Returns a sentence for each one that has a problem; undefined if there is none. */
  async check(): Promise<string | undefined> {
    const problems = await Promise.all(Array.from(this.#byName.values(), (service) => service.probe()));
    return problems.filter((problem) => problem !== undefined).join(' ') || undefined;
  }

  /** Returns the state of each upstream, by its name. */
  states() {
    return Array.from(this.#byName, ([name, service]) => [name, service.state()] as const);
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
    await Promise.all(Array.from(this.#byName.values(), (service) => service.close()));
    await this.#cache?.release();
  }
}

/** Returns the address that cached reads belong to: headers can lead to other data at the same address. */
const cacheAddressOf = ({ upstreamUrl, upstreamHeaders }: SettingsOfService): string =>
  serviceAddressOf(upstreamUrl) + (upstreamHeaders === undefined ? '' : ` ${JSON.stringify(upstreamHeaders)}`);

/** Returns the settings of each upstream by name. The only upstream of `upstream` has no name. */
function listUpstreams(settings: GatewaySettings): (readonly [string | undefined, SettingsOfService])[] {
  const { upstream, upstreams } = settings;
  if (upstreams !== undefined) {
    return Object.entries(upstreams).map(([name, { url, ...own }]) => [
      name,
      { ...settings, ...own, upstreamUrl: new URL(url) },
    ]);
  }
  return upstream === undefined ? [] : [[undefined, { ...settings, upstreamUrl: new URL(upstream) }]];
}

/** Stores of caches. Gateways with the same one share it, so that a gateway that replaces another one keeps what is stored. */
export class CacheStores {
  readonly #shared: SharedRedisOptions;
  readonly #stores = createSharedResources<CacheStore>();

  constructor(shared: SharedRedisOptions) {
    this.#shared = shared;
  }

  /**
   * Opens a store.
   *
   * @param now monotonic clock, in milliseconds. @default performance.now
   * @throws {SecretError} if the secret, the URL or the certificates can't be read, or are invalid
   * @throws {SetupError} if the store is Redis and its client is not installed
   */
  open({ store, secret: source = '', maxBytes }: CacheSettings, now?: () => number): SharedResource<CacheStore> {
    if (store === 'memory') {
      return this.#stores.open(JSON.stringify([store, maxBytes]), () => new MemoryStore({ maxBytes, now }));
    }
    const { redis } = store;
    const secret = readSecret('cacheSecret', source);
    const options = { ...redis, ...this.#shared, prefix: `${redis.keyPrefix}cache:`, secret };
    return this.#stores.open(JSON.stringify([store, secret]), () => new RedisCacheStore(options));
  }
}
