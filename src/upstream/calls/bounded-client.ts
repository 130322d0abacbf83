// Calls the service for one operation, within its budget of calls and time.

import { isRecord } from '../../lib/is-record.ts';
import { ignoreRejection } from '../../lib/promises.ts';
import { Deadline } from '../../lib/signal.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { CallAuthor, Caller, OperationClient, Outcome, UpstreamRequest, WriteResult } from '../calls.ts';
import { isIdentified } from '../declaration/response-form.ts';
import {
  type CallArgs,
  type DeclaredEndpoint,
  invalidCall,
  type ReadEndpoint,
  type WriteEndpoint,
  type WriteOptions,
} from '../endpoint.ts';
import { errorOf, isUpstreamError } from '../errors.ts';
import { encodeArgs } from '../transport/encode-args.ts';
import { Reader } from './call.ts';
import type { CallTarget } from './service.ts';
import { sendUpsert } from './upsert.ts';

export type OperationSettings = { upstreamUrl: URL } & Pick<GatewaySettings, 'maxUpstreamCalls'>;

/** Maximum items of bulk mutations per operation. They don't count as calls: whoever sends a list knows its length. It takes ten rounds of ten calls. */
export const MAX_BULK_ITEMS = 100;

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
  createRequest(
    kind: 'read' | 'write',
    endpoint: DeclaredEndpoint,
    args: UpstreamRequest['args'],
    writes = this.#caller.writes?.ofField,
  ): UpstreamRequest {
    const { credential, person, requestId } = this.#caller;
    const { upstreamUrl, maxUpstreamCalls } = this.#settings;
    const expected = endpoint.method === 'GET' ? 'read' : 'write';
    if (kind !== expected) {
      throw invalidCall(endpoint, `it is a ${expected}; use ctx.upstream.${expected}`);
    }
    if (kind === 'write' && this.#caller.writes !== undefined && writes?.mayWrite !== true) {
      const { method, route } = endpoint;
      const rule = 'Only the resolver of a field of Mutation can write, until it has ended.';
      throw new Error(`${method} ${route} was not sent. ${rule}`); // A bug of a module.
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

export class BoundedClient implements OperationClient {
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
    writes = this.#caller.writes?.ofField,
  ): Promise<WriteResult<Body>> {
    const sent = new Promise<WriteResult<Body>>((resolve, reject) => {
      const request = this.budget.createRequest('write', endpoint, args, writes);
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
    return writes === undefined ? ignoreRejection(sent) : writes.track(sent);
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
