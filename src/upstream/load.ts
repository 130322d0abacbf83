import type { Caller } from './caller.ts';
import type { OperationDeadline } from './policies/operation-deadline.ts';
import type { UpstreamRequest } from './request.ts';
import type { UpstreamResult } from './transport/exchange.ts';

/** Operation that makes calls: its caller and its deadline. */
export interface CallingOperation {
  caller: Caller;
  deadline: OperationDeadline;
}

/** Options of the call of a read. */
export interface LoadOptions {
  /** Reads of a credential with the same key share a call. @default no sharing */
  key?: string;
  /** Whether temporary failures are retried. @default true */
  retries?: boolean;
  /** Called with the result if a call is started, not joined. Until what it returns resolves, other reads join the call. @default nothing */
  follow?: (result: Promise<UpstreamResult>) => Promise<void> | undefined;
}

/** Makes the call of a read, or joins one with the same key. */
export type Load = (
  request: UpstreamRequest,
  operation: CallingOperation,
  options: LoadOptions,
) => Promise<UpstreamResult>;
