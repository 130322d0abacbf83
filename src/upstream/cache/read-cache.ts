import type { CacheSettings } from '../../settings/cache.ts';
import type { Caller } from '../caller.ts';
import { isUpstreamError } from '../errors.ts';
import type { CallingOperation, Load, LoadOptions } from '../load.ts';
import { createOperationDeadline } from '../policies/operation-deadline.ts';
import type { UpstreamRequest } from '../request.ts';
import type { Signal } from '../signal.ts';
import type { UpstreamResult } from '../transport/exchange.ts';
import type { CachedReadResult, CacheObserver } from '../transport/observer.ts';
import { type CachedRead, cachedReadsOf, tagsOf } from './cached-reads.ts';
import { isServiceFailure } from './failure-effects.ts';
import { Invalidation } from './invalidation.ts';
import { createPatience, type Patience } from './patience.ts';
import type { CacheStore, EntryAddress, FoundEntry, Lookup, MaybePromise, Moment } from './store.ts';
import { MAX_TAGS } from './tags.ts';
import type { CacheWindows } from './windows.ts';

/** Cache of an upstream's reads. */
export interface UpstreamCache {
  store: CacheStore;
  settings: CacheSettings;
  /** Aborts refreshes in the background when the upstream is closed. */
  closing: Signal;
}

/** Dependencies of `ReadCache`. */
export interface ReadCacheDeps extends UpstreamCache {
  /** Base address of the service. */
  upstream: string;
  /** Called for reads and invalidations. @default none */
  observer?: CacheObserver | undefined;
  load: Load;
  /** Returns whether a call with this key is in flight. */
  isLoading: (credential: string, key: string) => boolean;
  /** Time limit of a refresh, in milliseconds. Readers with a stored response wait for half of it. */
  attemptTimeoutMs: number;
  /** Monotonic clock, in milliseconds. */
  now: () => number;
}

/** Read that is being answered. */
interface Read {
  request: UpstreamRequest;
  operation: CallingOperation;
  address: EntryAddress;
  endpoint: CachedRead;
  windows: CacheWindows;
}

/** Policy that answers reads from a store. */
export class ReadCache {
  /** Makes its responses unusable. */
  readonly invalidation: Invalidation;
  readonly #deps: ReadCacheDeps;
  readonly #reads: ReturnType<typeof cachedReadsOf>;
  readonly #patience: Patience;

  constructor(deps: ReadCacheDeps) {
    this.#deps = deps;
    this.invalidation = new Invalidation(deps);
    this.#patience = createPatience(deps.attemptTimeoutMs / 2);
    this.#reads = cachedReadsOf(deps.settings);
  }

  /** Answers a read from the store or the service. */
  read(request: UpstreamRequest, operation: CallingOperation): MaybePromise<UpstreamResult> {
    const cached = this.#reads.get(request.call.route);
    if (cached === undefined || operation.caller.signal.aborted) {
      return this.#deps.load(request, operation, { key: request.path });
    }
    const owner = { upstream: this.#deps.upstream, credential: request.authorization };
    const address = { owner, path: request.path };
    const lookup = this.#deps.store.find(address);
    const read = { request, operation, address, ...cached };
    return lookup instanceof Promise ? lookup.then((found) => this.#answer(read, found)) : this.#answer(read, lookup);
  }

  #answer(read: Read, { entry, moment }: Lookup): MaybePromise<UpstreamResult> {
    const { request, operation, windows } = read;
    const isBypassed = operation.caller.bypassesCache === true;
    if (entry === undefined || entry.ageMs > windows.lifetimeMs || isBypassed) {
      this.#count(read, isBypassed ? 'bypass' : moment === undefined ? 'unavailable' : 'miss');
      return this.#deps.load(request, operation, this.#loadOptions(read, moment, entry !== undefined));
    }
    if (entry.ageMs <= windows.freshMs) {
      return this.#use(read, entry, 'fresh');
    }
    if (entry.ageMs > windows.revalidateMs) {
      return this.#refreshOrUse(read, entry, moment);
    }
    if (!this.#deps.isLoading(request.authorization, refreshKey(request.path, moment))) {
      const { trace } = operation.caller.usage;
      const usage = { calls: 1, bulkItems: 0, requests: 0, ...(trace && { trace }) };
      this.#refresh(read, entry, moment, { ...operation.caller, usage }).catch(() => {}); // The observer counts failures.
    }
    return this.#use(read, entry, 'revalidating');
  }

  #count({ endpoint }: Read, result: CachedReadResult, ageMs?: number): void {
    this.#deps.observer?.read(endpoint.resource, result, ageMs);
  }

  /** Answers a read with a stored response. */
  #use(read: Read, { result, ageMs }: FoundEntry, answer: CachedReadResult): UpstreamResult {
    const { request, operation } = read;
    const { usage } = operation.caller;
    this.#count(read, answer, ageMs);
    usage.cached = (usage.cached ?? 0) + 1;
    usage.trace?.share(request.endpoint, Promise.resolve(result));
    usage.log?.cached(request.endpoint, ageMs);
    return result;
  }

  /** Waits for a new response. Uses the stored one if the service fails or takes too long. */
  async #refreshOrUse(read: Read, entry: FoundEntry, moment: Moment | undefined): Promise<UpstreamResult> {
    const { load } = this.#deps;
    const { request, operation } = read;
    const { caller } = operation;
    let failure: unknown;
    try {
      const refresh = this.#refresh(read, entry, moment, caller);
      const result = await this.#patience.wait(request.call.route, refresh, caller);
      if (result !== undefined) {
        this.#count(read, 'miss');
        return result;
      }
    } catch (error) {
      if (!isServiceFailure(error)) {
        this.#count(read, 'miss');
        throw error;
      }
      failure = error;
    }
    // Looks it up again, because it may have been changed, dropped or replaced in the meantime.
    const { entry: stored, moment: now } = await this.#deps.store.find(read.address);
    if (stored === undefined || stored.ageMs > read.windows.errorMs) {
      this.#count(read, 'miss');
      if (failure !== undefined) {
        throw failure;
      }
      caller.usage.retries = (caller.usage.retries ?? 0) + 1;
      return load(request, operation, this.#loadOptions(read, now, true));
    }
    caller.usage.refreshed = (caller.usage.refreshed ?? 0) + 1;
    if (stored.ageMs <= read.windows.freshMs) {
      return this.#use(read, stored, 'fresh');
    }
    caller.usage.staleMs = Math.max(caller.usage.staleMs ?? 0, stored.ageMs);
    return this.#use(read, stored, 'stale');
  }

  /** Requests a stored response again. Ends neither with the operation nor with its client, because other readers may need the result. */
  #refresh(read: Read, entry: FoundEntry, moment: Moment | undefined, caller: Caller): Promise<UpstreamResult> {
    const { closing, attemptTimeoutMs, load } = this.#deps;
    const deadlineAt = performance.now() + attemptTimeoutMs;
    const { etag } = entry.result;
    const request = etag === undefined ? read.request : { ...read.request, known: { etag, body: entry.result.body } };
    return load(
      request,
      { caller: { ...caller, signal: closing, deadlineAt }, deadline: createOperationDeadline(closing, deadlineAt) },
      {
        ...this.#loadOptions(read, moment, true),
        key: refreshKey(request.path, moment),
        retries: false, // The stored response answers the readers.
      },
    );
  }

  /** Returns options of a call whose response is stored. Only the read that starts the call stores it. */
  #loadOptions(
    { request, operation, address, endpoint, windows }: Read,
    moment: Moment | undefined,
    hasEntry: boolean,
  ): LoadOptions {
    const { store, now } = this.#deps;
    if (moment === undefined) {
      return {}; // It joins none, because another process may have written since that one started.
    }
    const startedAt = now();
    const { lifetimeMs } = windows;
    const params = request.call.params ?? {};
    const isBypassed = operation.caller.bypassesCache === true;
    return {
      key: `${request.path} ${moment}${isBypassed ? ' bypass' : ''}`,
      follow: (result) => {
        const stored = result.then(
          (loaded) => {
            const tags = tagsOf(endpoint, params, loaded.body);
            return tags.length > MAX_TAGS
              ? undefined
              : store.put(address, { result: loaded, tags, moment, ageMs: now() - startedAt, lifetimeMs });
          },
          (error: unknown) => {
            const record = endpoint.record?.(params);
            if (hasEntry && record !== undefined && isUpstreamError(error) && error.code === 'NOT_FOUND') {
              void this.invalidation.forget(address.owner, record);
            }
          },
        );
        return isBypassed ? undefined : stored; // It may be out of date by then, and such reads must not join it.
      },
    };
  }
}

const refreshKey = (path: string, moment: Moment | undefined): string => `${path} ${moment} refresh`;
