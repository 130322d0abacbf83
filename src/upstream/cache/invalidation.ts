import { isUpstreamError } from '../errors.ts';
import type { UpstreamRequest } from '../request.ts';
import type { Exchange, UpstreamResult } from '../transport/exchange.ts';
import type { CacheObserver } from '../transport/observer.ts';
import { writeEndOf } from './failure-effects.ts';
import type { CacheStore, Owner, Tag } from './store.ts';
import { WRITE_EFFECTS, type WriteEffect } from './write-effects.ts';

/** Dependencies of `Invalidation`. */
export interface InvalidationDeps {
  store: CacheStore;
  /** Base address of the service. */
  upstream: string;
  /** Called for invalidations. @default none */
  observer?: CacheObserver | undefined;
}

/** Policy that makes stored responses unusable once they may be out of date or forbidden. */
export class Invalidation {
  readonly #deps: InvalidationDeps;
  readonly #effects = new Map<string, WriteEffect | undefined>(Object.entries(WRITE_EFFECTS));

  constructor(deps: InvalidationDeps) {
    this.#deps = deps;
  }

  /** Sends a write, and marks what it changes before and after. */
  async write(request: UpstreamRequest, maxMs: number, send: () => Promise<UpstreamResult>): Promise<UpstreamResult> {
    const { endpoint, call } = request;
    const effect = this.#effects.get(`${endpoint.method} ${endpoint.route}`);
    if (effect === undefined) {
      return send();
    }
    const { store } = this.#deps;
    const write = await store.beginWrite(this.#ownerOf(request), effect.tags(call.params ?? {}), Math.max(0, maxMs));
    let result: UpstreamResult;
    try {
      result = await send();
    } catch (error) {
      const outcome = writeEndOf(error);
      await write.end(outcome);
      if (outcome !== 'not applied') {
        this.#deps.observer?.invalidated(outcome === 'applied' ? 'write' : 'unknown write');
      }
      throw error;
    }
    await write.end('applied', effect.responseTags?.(result.body));
    this.#deps.observer?.invalidated('write');
    return result;
  }

  /** Wraps an exchange to drop all entries of a credential that the service no longer accepts. */
  dropRejected(exchange: Exchange): Exchange {
    return async (request, signal, traceHeaders) => {
      try {
        return await exchange(request, signal, traceHeaders);
      } catch (error) {
        if (isUpstreamError(error) && (error.status === 401 || error.status === 403)) {
          await this.#deps.store.drop(this.#ownerOf(request));
          this.#deps.observer?.invalidated('rejected key');
        }
        throw error;
      }
    };
  }

  #ownerOf({ authorization }: UpstreamRequest): Owner {
    return { upstream: this.#deps.upstream, credential: authorization };
  }

  /** Invalidates what shows a record that somebody else has deleted. */
  async forget(owner: Owner, record: Tag): Promise<void> {
    const write = await this.#deps.store.beginWrite(owner, [record], 0);
    await write.end('applied');
  }
}
