// Lets resolvers and loaders call the service: reads and writes of one operation, within its budget.

import { isRecord } from '../lib/is-record.ts';
import { ignoreRejection } from '../lib/promises.ts';
import { Deadline, type Signal } from '../lib/signal.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { Reader } from './call.ts';
import type { CallEvents, Outcome } from './call-events.ts';
import {
  type CallArgs,
  type DeclaredEndpoint,
  invalidCall,
  type ReadEndpoint,
  type WriteEndpoint,
  type WriteOptions,
} from './endpoint.ts';
import { errorOf, isUpstreamError } from './errors.ts';
import { encodeArgs } from './input-rules.ts';
import type { UpstreamRequest, WriteResult } from './request.ts';
import { isIdentified } from './response-form.ts';
import type { CallTarget } from './service.ts';
import { sendUpsert } from './upsert.ts';

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** `Authorization` header, forwarded unchanged. If undefined, every call fails before it is sent. */
  credential: string | undefined;
  /** Person who has only a token, and shares the credential with others. @default none: a server, which has the credential */
  person?: string | undefined;
  /** Aborts every call when the client disconnects. */
  signal: Signal;
  /** Deadline of the operation, on the clock of `performance.now()`. Queueing and retries count too. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, to correlate the logs of both services. */
  requestId: string;
  events: CallEvents;
  /** Whether reads use no stored responses. Their responses are stored. @default false */
  bypassesCache?: boolean;
  /** Writes of the operation. @default any may be sent */
  writes?: OperationWrites;
}

export interface OperationWrites {
  /**
   * Writes of the mutation's field whose resolver is running. While there is none, no write is sent: it would have no key, no outcome and no field in the
   * audit log.
   */
  ofField: WriteCount | undefined;
}

/** Counts writes that were applied, may have been, or are in flight. */
export class WriteCount {
  applied = 0;

  /** Counts a write, unless it is refused. */
  track<Result>(write: Promise<Result>): Promise<Result> {
    this.applied += 1;
    write.catch((error) => {
      this.applied -= isUpstreamError(error) && error.outcome === 'UNKNOWN' ? 0 : 1; // Errors of other classes precede the call.
    });
    return write;
  }
}

/** Creates the error of a write outside the resolver of a mutation's field, which is a bug of a module. */
export const misplacedWrite = ({ method, route }: DeclaredEndpoint): Error =>
  new Error(`${method} ${route} was not sent. Only the resolver of a field of Mutation can write, until it has ended.`);

export type OperationSettings = { upstreamUrl: URL } & Pick<GatewaySettings, 'maxUpstreamCalls'>;

/** Maximum items of bulk mutations per operation. They don't count as calls: whoever sends a list knows its length. It takes ten rounds of ten calls. */
export const MAX_BULK_ITEMS = 100;

/**
 * Client of the upstream service, bound to one caller. Fails only with `UpstreamError`, and for misplaced writes. The fields of a record are not
 * validated here, because GraphQL validates the requested ones.
 */
export interface UpstreamClient {
  /** Returns null if the service has no such record (404, 410). An invalid item of a list is an `UpstreamError` in its place. */
  read<Args extends CallArgs, Body>(endpoint: ReadEndpoint<Args, Body>, args: NoInfer<Args>): Promise<Body | null>;
  /** Sends a write. Unlike `read`, fails with `NOT_FOUND` if the service has no such record. */
  write<Args extends CallArgs, Body>(
    endpoint: WriteEndpoint<Args, Body>,
    args: NoInfer<Args> & WriteOptions,
  ): Promise<WriteResult<Body>>;
}

/** Part of a caller that decides which calls may be sent. */
export type CallAuthor = Pick<Caller, 'credential' | 'person' | 'requestId' | 'writes'>;

/** Creates the requests of one operation, within its limits. */
export class CallBudget {
  calls = 0;
  bulkItems = 0;
  readonly #settings: OperationSettings;
  readonly #caller: CallAuthor;

  constructor(settings: OperationSettings, caller: CallAuthor) {
    this.#settings = settings;
    this.#caller = caller;
  }

  /**
   * Creates the request of a call, with the credential, and counts it.
   *
   * @throws {Error} if it must not be sent
   */
  createRequest(kind: 'read' | 'write', endpoint: DeclaredEndpoint, args: UpstreamRequest['args']): UpstreamRequest {
    const { credential, person, requestId, writes } = this.#caller;
    const { upstreamUrl, maxUpstreamCalls } = this.#settings;
    const expected = endpoint.method === 'GET' ? 'read' : 'write';
    if (kind !== expected) {
      throw invalidCall(endpoint, `it is a ${expected}; use ctx.upstream.${expected}`);
    }
    if (endpoint.method !== 'GET' && writes !== undefined && writes.ofField === undefined) {
      throw misplacedWrite(endpoint);
    }
    if (credential === undefined) {
      throw errorOf('missingCredential', endpoint);
    }
    const { path, headers, body } = encodeArgs(endpoint, upstreamUrl, args);
    const [counter, limit] = args.isBulkItem
      ? (['bulkItems', MAX_BULK_ITEMS] as const)
      : (['calls', maxUpstreamCalls] as const);
    if (this[counter] >= limit) {
      const message = `An operation can make at most ${limit} calls to the notification service. Request less, or use several operations.`;
      throw errorOf('budgetExceeded', endpoint, { message });
    }
    this[counter] += 1;
    const sent = args.deriveKey ? { ...args, idempotencyKey: args.deriveKey(`${endpoint.method} ${path}`) } : args;
    return { endpoint, credential, callerId: person ?? credential, path, requestId, args: sent, headers, body };
  }
}

/** Client of one operation, which bounds its calls in number and time. */
export class OperationClient implements UpstreamClient {
  readonly budget: CallBudget;
  readonly deadline: Deadline;
  readonly #target: CallTarget;
  readonly #caller: Caller;

  constructor(settings: OperationSettings, target: CallTarget, caller: Caller) {
    this.budget = new CallBudget(settings, caller);
    this.deadline = new Deadline(caller.signal, caller.deadlineAt);
    this.#target = target;
    this.#caller = caller;
  }

  read<Args extends CallArgs, Body>(endpoint: ReadEndpoint<Args, Body>, args: NoInfer<Args>): Promise<Body | null> {
    const read = new Promise<Body | null>((resolve, reject) => {
      const request = this.budget.createRequest('read', endpoint, args);
      const reader = this.#createReader((outcome) => {
        if (!isUpstreamError(outcome)) {
          resolve(withInvalidItems(endpoint, outcome.body) as Body); // The contract's type: GraphQL validates the requested fields.
        } else if (outcome.code === 'NOT_FOUND') {
          resolve(null);
        } else {
          reject(outcome);
        }
      });
      this.#target.read(request, reader);
    });
    return ignoreRejection(read);
  }

  write<Args extends CallArgs, Body>(
    endpoint: WriteEndpoint<Args, Body>,
    args: NoInfer<Args> & WriteOptions,
  ): Promise<WriteResult<Body>> {
    const sent = new Promise<WriteResult<Body>>((resolve, reject) => {
      const request = this.budget.createRequest('write', endpoint, args);
      const settle = (outcome: Outcome) => {
        if (isUpstreamError(outcome)) {
          reject(outcome);
        } else {
          resolve({ ...outcome, body: withInvalidItems(endpoint, outcome.body) as Body }); // As above.
        }
      };
      if (endpoint.upsert === undefined) {
        this.#target.write(request, this.#createReader(settle));
      } else {
        const send = (next: UpstreamRequest) =>
          new Promise<Outcome>((end) => this.#target.write(next, this.#createReader(end)));
        sendUpsert(request, endpoint.upsert, send).then(settle, reject);
      }
    });
    return (this.#caller.writes?.ofField ?? new WriteCount()).track(sent);
  }

  #createReader(onOutcome: (outcome: Outcome) => void): Reader {
    const { events, bypassesCache } = this.#caller;
    return new Reader(this.deadline, events, onOutcome, bypassesCache);
  }
}

/**
 * Replaces the items of a list or page that are no records by errors, so that each costs only its own place. The body itself stays as it is, because
 * a cache may hold it.
 */
function withInvalidItems(endpoint: DeclaredEndpoint, body: unknown): unknown {
  const { expect: expected, identifiedBy } = endpoint;
  if (expected === 'page' && isRecord(body)) {
    const data = replaceInvalid(endpoint, body.data);
    return data === body.data ? body : { ...body, data };
  }
  return expected === 'list' || (expected === 'value' && identifiedBy.length > 0)
    ? replaceInvalid(endpoint, body)
    : body;
}

function replaceInvalid(endpoint: DeclaredEndpoint, list: unknown): unknown {
  const isInvalid = (item: unknown) => !isIdentified(item, endpoint.identifiedBy);
  if (!Array.isArray(list) || !list.some(isInvalid)) {
    return list;
  }
  const error = errorOf('badResponse', endpoint, { cause: 'an item is not a record' }); // One for all of them, because each takes 5 µs.
  return list.map((item) => (isInvalid(item) ? error : item));
}
