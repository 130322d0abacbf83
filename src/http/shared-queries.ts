import type { Identity } from '../auth/identity.ts';
import type { Operation } from '../graphql/documents/prepared-documents.ts';
import { ROUTER_AUTHORIZATION } from '../graphql/federation.ts';
import { createPerCredential } from '../lib/per-credential.ts';
import type { Usage } from '../telemetry/usage.ts';
import type { Signal } from '../upstream/signal.ts';
import type { RequestState } from './request-state.ts';

/** Response without errors, and what the log and the rate limit need to know of its operation. */
export interface SharedResponse {
  readonly text: string;
  readonly operation: Operation;
  /** Calls of the operation as those of a request that only uses the response. */
  readonly usage: Readonly<Usage>;
  /** Calls that its fields made. */
  readonly resolverCalls: number;
}

/** Common parts of requests that share a response. */
export interface QueryKey {
  readonly credential: string;
  /** `Authorization` header. Of two tokens of a user, one may lack a scope. */
  readonly authorization: string | undefined;
  readonly upstream: string | undefined;
  readonly body: string;
}

/** Operation in flight. */
export interface RunningOperation {
  /** Whether other requests wait for its response. */
  readonly isJoined: boolean;
  /** Ends it, with its response if others can use it. */
  end(response?: SharedResponse): void;
}

/** Query in flight that others can join. */
interface Query extends RunningOperation {
  readonly key: QueryKey;
  readonly readers: ((response: SharedResponse | undefined) => void)[];
}

/** Operations in flight of one API key. */
interface Lane {
  queries: Query[];
  mutations: number;
}

/** Headers of requests that are always executed on their own. Every header that can change the data of a response must be one of them. */
const EXCLUDED_BY = ['cache-control', 'idempotency-key', ROUTER_AUTHORIZATION];

/** Maximum length of a body, because each request is compared with the queries in flight. Ordinary ones are much shorter. */
const MAX_BODY_LENGTH = 16 * 1024;

/** Returns the key of a request; undefined if it must be executed on its own. */
export function queryKeyOf(
  { request, trace }: Pick<RequestState, 'request' | 'trace'>,
  { credential, upstream }: Identity,
  body: string,
): QueryKey | undefined {
  if (credential === undefined) {
    return undefined; // It calls nothing.
  }
  // guard: test/http/shared-queries.test.ts
  if (
    body.length > MAX_BODY_LENGTH ||
    trace !== undefined ||
    EXCLUDED_BY.some((name) => request.header(name) !== undefined)
  ) {
    return undefined;
  }
  return { credential, authorization: request.header('authorization'), upstream, body };
}

/**
 * Lets requests use the response of an identical query in flight instead of executing it again. A request uses it if
 *
 * - both are POST requests with the same `Authorization`, upstream and body, byte for byte;
 * - neither has flags in `extensions`, a trace, a header of `EXCLUDED_BY`, or a body of more than `MAX_BODY_LENGTH`;
 * - no mutation with the same API key has run since the query began;
 * - the response has no errors. Otherwise, the request is executed on its own.
 *
 * A request that joins is authenticated, admitted and charged as every other one, and leaves when its client disconnects.
 */
export class SharedQueries {
  readonly #lanes = createPerCredential<Lane>(() => ({ queries: [], mutations: 0 }));

  /**
   * Waits for the response of an identical query. Resolves with undefined if it can't be used, or the client disconnects.
   *
   * @returns undefined if there is no such query
   */
  join(key: QueryKey, client: Signal): Promise<SharedResponse | undefined> | undefined {
    // guard: test/http/shared-queries.test.ts
    if (client.aborted) {
      return undefined; // The signal doesn't report it again.
    }
    const query = this.#lanes.enter(key.credential).queries.find((other) => isSame(other.key, key));
    this.#lanes.leave(key.credential); // The query uses the lane too.
    if (query === undefined) {
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<SharedResponse | undefined>();
    query.readers.push(resolve);
    client.addEventListener('abort', () => resolve(undefined), { once: true });
    return promise;
  }

  /** Starts a query, which others can join unless a mutation is running. */
  start(key: QueryKey): RunningOperation {
    const lanes = this.#lanes;
    const lane = lanes.enter(key.credential);
    const query: Query = {
      key,
      readers: [],
      get isJoined() {
        return query.readers.length > 0;
      },
      end(response) {
        const at = lane.queries.indexOf(query);
        if (at >= 0) {
          lane.queries.splice(at, 1);
        }
        lanes.leave(key.credential);
        for (const resolve of query.readers) {
          resolve(response);
        }
      },
    };
    // guard: test/http/shared-queries.test.ts
    if (lane.mutations === 0) {
      lane.queries.push(query);
    }
    return query;
  }

  /** Starts a mutation: earlier queries can't be joined any more, and others not until it ends. */
  startMutation(credential: string): RunningOperation {
    const lane = this.#lanes.enter(credential);
    lane.queries = [];
    lane.mutations += 1;
    return {
      isJoined: false,
      end: () => {
        lane.mutations -= 1;
        this.#lanes.leave(credential);
      },
    };
  }
}

const isSame = (one: QueryKey, other: QueryKey): boolean =>
  one.authorization === other.authorization && one.upstream === other.upstream && one.body === other.body;
