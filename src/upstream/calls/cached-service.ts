// Answers reads from the cache where possible, and empties it when writes change the data.

import { memoizeByObject } from '../../lib/memoize.ts';
import { Deadline, type Signal, type Waiting } from '../../lib/signal.ts';
import {
  type CachedKind,
  type CacheWindows,
  type EntryAddress,
  type FoundEntry,
  type Lookup,
  type Owner,
  type ServiceCache,
  windowsOf,
} from '../cache/store.ts';
import { type CacheHit, type CallEvents, type Outcome, readKeyOf, type UpstreamRequest } from '../calls.ts';
import type { CachedRead } from '../declaration/endpoint-options.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import { endedEarly, isUpstreamError, type UpstreamError } from '../errors.ts';
import { afterwards, type CallOptions, Reader } from './call.ts';
import type { CallTarget, Service } from './service.ts';

interface CachedServiceDeps extends ServiceCache {
  service: Service;
  kinds: readonly CachedKind[];
  emptied: ReadonlyMap<DeclaredEndpoint, readonly CachedKind[]>;
  /** Time limit of a refresh, in milliseconds. Readers with a stored response wait for half of it. */
  attemptTimeoutMs: number;
  /** Aborts refreshes in the background when the upstream is closed. */
  closing: Signal;
}

/** Time for which a write with an unknown outcome counts as being in progress after its end, in milliseconds. */
const UNKNOWN_WRITE_MS = 30_000;

interface Read {
  request: UpstreamRequest;
  reader: Reader;
  address: EntryAddress;
  cached: CachedRead;
  windows: CacheWindows;
}

export class CachedService implements CallTarget {
  readonly #deps: CachedServiceDeps;
  readonly #windowsOf = memoizeByObject((cached: CachedRead) => windowsOf(this.#deps.settings, cached));

  constructor(deps: CachedServiceDeps) {
    this.#deps = deps;
  }

  get cache(): ServiceCache {
    return this.#deps;
  }

  read(request: UpstreamRequest, reader: Reader): void {
    const { service, store } = this.#deps;
    const { cached } = request.endpoint;
    if (cached === undefined || reader.deadline.endReason() !== undefined) {
      service.read(request, reader, { key: readKeyOf(request), ...this.#confirmation(request, reader.events) });
      return;
    }
    const address = { owner: this.#ownerOf(request), kind: cached.kind, read: readKeyOf(request) };
    const read: Read = { request, reader, address, cached, windows: this.#windowsOf(cached) };
    afterwards(store.find(address), (lookup) => this.#answer(read, lookup));
  }

  /** Empties the kinds of reads that a write changes, before it is sent and after it has ended. */
  write(request: UpstreamRequest, reader: Reader): void {
    const { service, store, emptied } = this.#deps;
    const kinds = emptied.get(request.endpoint) ?? [];
    if (kinds.length === 0) {
      service.write(request, reader, this.#confirmation(request, reader.events));
      return;
    }
    const begun = store.beginWrite(this.#ownerOf(request), kinds, Math.max(0, reader.deadline.at - performance.now()));
    const { confirm: dropRejected } = this.#confirmation(request, reader.events);
    afterwards(begun, (write) =>
      service.write(request, reader, {
        async confirm(outcome) {
          const isUnknown = isUpstreamError(outcome) && outcome.outcome === 'UNKNOWN';
          reader.events.invalidated(isUnknown ? 'unknown write' : 'write');
          await write.end(isUnknown ? UNKNOWN_WRITE_MS : 0);
          await dropRejected(outcome);
        },
      }),
    );
  }

  #answer(read: Read, lookup: Lookup): void {
    const { request, reader, windows } = read;
    const { entry, version } = lookup;
    const { bypassesCache } = reader;
    if (entry === undefined || entry.ageMs > windows.lifetimeMs || bypassesCache) {
      const reason = bypassesCache ? 'bypass' : version === undefined ? 'unavailable' : 'miss';
      reader.events.cacheMissed(read.cached.resource, reason);
      this.#deps.service.read(request, reader, this.#storing(read, lookup, bypassesCache ? 'bypass' : ''));
    } else if (entry.ageMs <= windows.freshMs) {
      this.#use(read, entry, 'fresh');
    } else if (entry.ageMs <= windows.revalidateMs) {
      this.#refreshInBackground(read, lookup, entry);
      this.#use(read, entry, 'revalidating');
    } else {
      this.#refreshOrUse(read, lookup, entry);
    }
  }

  #use({ request, reader, cached }: Read, { result, ageMs }: FoundEntry, answer: CacheHit['answer'], waited = false) {
    reader.events.answeredFromCache(request, { resource: cached.resource, answer, ageMs, result }, waited);
    reader.end(result);
  }

  #refreshInBackground(read: Read, lookup: Lookup, entry: FoundEntry): void {
    const { credential } = read.address.owner;
    const { key } = this.#storing(read, lookup, 'refresh');
    if (key !== undefined && !this.#deps.service.isReading(credential, key)) {
      this.#refresh(read, lookup, entry, read.reader.events.inBackground(), () => {}); // Failures are in the metrics.
    }
  }

  /** Waits for a new response. Uses the stored one if the service fails, or takes longer than half an attempt. */
  #refreshOrUse(read: Read, lookup: Lookup, entry: FoundEntry): void {
    const { request, reader, address, cached } = read;
    const { deadline, events } = reader;
    const { store } = this.#deps;
    const { timeoutMs: attemptTimeoutMs = this.#deps.attemptTimeoutMs } = request.endpoint;
    let isAnswered = false;
    const answer = (use: () => void) => {
      if (!isAnswered) {
        isAnswered = true;
        clearTimeout(timer);
        deadline.remove(waiting);
        use();
      }
    };
    const answerWithout = (outcome: Outcome) =>
      answer(() => {
        events.cacheMissed(cached.resource, 'miss');
        reader.end(outcome);
      });
    /** Looks it up again, because a write or a rejection of the key may have dropped it. Then the outcome remains, if there is one already. */
    const answerFromStore = (outcome?: Outcome) =>
      afterwards(store.find(address), ({ entry: stored }) => {
        if (stored !== undefined) {
          answer(() => this.#use(read, stored, 'stale', true));
        } else if (outcome !== undefined) {
          answerWithout(outcome);
        }
      });
    const waiting: Waiting = {
      stop: (reason) => answerFromStore(endedEarly(request.endpoint, { sent: true }, reason)),
    };
    const timer = setTimeout(answerFromStore, attemptTimeoutMs / 2);
    deadline.add(waiting);
    this.#refresh(read, lookup, entry, events, (outcome) => {
      if (isUpstreamError(outcome) && isServiceFailure(outcome)) {
        answerFromStore(outcome);
      } else {
        answerWithout(outcome);
      }
    });
  }

  /** Requests a stored response again. Ends neither with the operation nor with its client, because other readers may need the result. */
  #refresh(
    read: Read,
    lookup: Lookup,
    { result: { etag, body, bytes } }: FoundEntry,
    events: CallEvents,
    onOutcome: (outcome: Outcome) => void,
  ): void {
    const { service, closing } = this.#deps;
    const { timeoutMs: attemptTimeoutMs = this.#deps.attemptTimeoutMs } = read.request.endpoint;
    const request = etag === undefined ? read.request : { ...read.request, known: { etag, body, bytes } };
    const reader = new Reader(new Deadline(closing, performance.now() + attemptTimeoutMs), events, onOutcome);
    service.read(request, reader, {
      ...this.#storing(read, lookup, 'refresh'),
      isRetried: false, // The stored response answers the readers.
    });
  }

  /** Returns options of a call whose response is stored. Reads share it only if no write came between their lookups. */
  #storing({ request, reader, address, windows }: Read, lookup: Lookup, purpose: string): CallOptions {
    const { store } = this.#deps;
    const confirmation = this.#confirmation(request, reader.events);
    const { version } = lookup;
    if (version === undefined) {
      return confirmation;
    }
    const put = (outcome: Outcome) =>
      isUpstreamError(outcome)
        ? outcome.code === 'NOT_FOUND' && lookup.entry !== undefined
          ? store.drop(address.owner, [address.kind])
          : undefined
        : store.put(address, lookup, outcome, windows.lifetimeMs);
    return {
      ...confirmation,
      key: `${address.read} ${version} ${purpose}`,
      // Readers that bypass the cache must not get a result from before their request.
      store: purpose === 'bypass' ? (outcome) => void put(outcome) : put,
    };
  }

  /** Returns the option that drops everything of a credential that the service no longer accepts, before its readers are answered. */
  #confirmation(request: UpstreamRequest, events: CallEvents): { confirm: (outcome: Outcome) => void | Promise<void> } {
    return {
      confirm: (outcome) => {
        if (!isUpstreamError(outcome) || !isRejection(outcome.status)) {
          return undefined;
        }
        events.invalidated('rejected key');
        return this.#deps.store.drop(this.#ownerOf(request), this.#deps.kinds);
      },
    };
  }

  #ownerOf({ credential }: UpstreamRequest): Owner {
    return { address: this.#deps.address, credential };
  }
}

/** Whether a stored response may be used instead. Not of one with 401 or 403, which may have checked the key, nor for the rate limit of the key. */
const isServiceFailure = ({ code, isTemporary }: UpstreamError): boolean => isTemporary && code !== 'RATE_LIMITED';

const isRejection = (status: number | undefined): boolean => status === 401 || status === 403;
