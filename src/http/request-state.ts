import type { Identity } from '../auth/identity.ts';
import type { GatewayContext } from '../graphql/context.ts';
import type { Operation } from '../graphql/documents/prepared-documents.ts';
import { createCondition } from '../lib/condition.ts';
import type { OperationTrace } from '../telemetry/tracing/operation-trace.ts';
import type { AdmissionAllowance } from './access.ts';
import {
  type IncomingRequest,
  type NegotiateMediaType,
  REQUEST_ID,
  type RequestExtensions,
  toRequestId,
} from './request.ts';

/** State of one request. The steps of the pipeline fill it in. */
export interface RequestState {
  readonly request: IncomingRequest;
  /** Start time, as in `performance.now()`. */
  readonly startedAt: number;
  readonly requestId: string;
  /** Media type of the response; undefined if the client accepts none of the available types. */
  readonly mediaType: string | undefined;
  /** Path of the endpoint; undefined before it is known to be one. Any other path is data of the client. */
  route?: string;
  identity?: Identity;
  /** State of the caller's rate limit; undefined if the caller has none, or before it is checked. */
  allowance?: AdmissionAllowance | undefined;
  /** Trace of the operation; undefined if there is none, or before the caller is identified. */
  trace?: OperationTrace | undefined;
  /** Flags of the request; undefined before they are read. */
  extensions?: RequestExtensions;
  context?: GatewayContext;
  operation?: Operation;
}

/** Counts the requests in flight, so that what they use is closed after them. */
export class RunningRequests {
  #running = 0;
  readonly #idle = createCondition(() => this.#running === 0);

  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    this.#idle.check();
  }

  /** Waits until all requests have ended. */
  finished(): Promise<void> {
    return this.#idle.met();
  }
}

/** Starts the trace of a request. */
export type StartTrace = (state: RequestState) => OperationTrace | undefined;

/** Creates the state of a new request. */
export const createRequestState = (request: IncomingRequest, negotiateMediaType: NegotiateMediaType): RequestState => ({
  request,
  startedAt: performance.now(),
  requestId: toRequestId(request.header(REQUEST_ID)),
  mediaType: negotiateMediaType(request.header('accept')),
});
