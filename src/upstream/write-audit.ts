import type { UpstreamRequest } from './request.ts';
import type { TraceIds } from './transport/call-trace.ts';
import type { UpstreamResult } from './transport/exchange.ts';

/** Caller of a write. */
export interface WriteCaller {
  readonly clientKind: string;
  /** Name of the tenant; undefined if the caller has only a key. */
  readonly tenant?: string | undefined;
  /** Name of the service, if there are several. */
  readonly upstream?: string | undefined;
  /** User of the tenant. */
  readonly subject?: string | undefined;
}

/** Author of the writes of an operation. */
export interface WriteAuthor {
  readonly identity: WriteCaller;
  /** Ids of the operation's span; undefined if there is none. */
  readonly traceIds: TraceIds | undefined;
  /** Field of the mutation that is running. They run one after another. */
  field: string | undefined;
}

/** Record of one write. */
export interface WriteRecord {
  /**
   * Called before each attempt.
   *
   * @throws {UpstreamError} AUDIT_UNAVAILABLE if the write must not be sent
   */
  sending(): void;
  /** Records the outcome, and returns it. */
  follow(result: Promise<UpstreamResult>): Promise<UpstreamResult>;
}

/** Log of all writes that are sent to the service. */
export interface WriteAudit {
  begin(author: WriteAuthor, request: UpstreamRequest): WriteRecord;
}
