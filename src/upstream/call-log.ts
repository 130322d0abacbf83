import { type Endpoint, isUpstreamError } from './errors.ts';
import type { UpstreamRequest } from './request.ts';
import type { UpstreamResult } from './transport/exchange.ts';

/** REST call of an operation, for the log. */
export interface CallEntry {
  method: string;
  /** Template of the path, without ids. */
  route: string;
  /** Status of the response; absent if there was none. */
  httpStatus?: number;
  /** Code of the failure. */
  code?: string;
  /** Duration; absent if the operation ended first. */
  ms?: number;
  /** Number of the attempt, from 1; absent if the call was shared. */
  attempt?: number;
  /** Whether the call used the response of another operation's identical call. */
  shared?: true;
  /** Age of the stored response that was used instead of a call, in milliseconds. */
  ageMs?: number;
}

/** Records the REST calls of one operation. Exists only if the log has the level `debug`. */
export class CallLog {
  /** Calls in the order in which they were sent. */
  readonly entries: CallEntry[] = [];
  readonly #attempts = new Map<UpstreamRequest, number>();

  /** Notes that a call is not shared. */
  startCall(request: UpstreamRequest): void {
    this.#attempts.set(request, 0);
  }

  /** Records one attempt. */
  attempt(request: UpstreamRequest, result: Promise<UpstreamResult>): Promise<UpstreamResult> {
    const attempt = (this.#attempts.get(request) ?? 0) + 1;
    this.#attempts.set(request, attempt);
    return this.#record(request, { attempt }, result);
  }

  /** Records a read if it was shared. */
  read(request: UpstreamRequest, result: Promise<UpstreamResult>): Promise<UpstreamResult> {
    return this.#attempts.has(request) ? result : this.#record(request, { shared: true }, result);
  }

  /** Records a read that was answered with a stored response. */
  cached({ method, route }: Endpoint, ageMs: number): void {
    this.entries.push({ method, route, ageMs: Math.round(ageMs) });
  }

  #record(
    { endpoint }: UpstreamRequest,
    details: Pick<CallEntry, 'attempt' | 'shared'>,
    result: Promise<UpstreamResult>,
  ): Promise<UpstreamResult> {
    const startedAt = performance.now();
    const entry: CallEntry = { method: endpoint.method, route: endpoint.route, ...details };
    this.entries.push(entry);
    const end = (outcome: Pick<CallEntry, 'httpStatus' | 'code'>) =>
      Object.assign(entry, outcome, { ms: Math.round((performance.now() - startedAt) * 10) / 10 });
    result.then(
      ({ status }) => end({ httpStatus: status }),
      (error: unknown) => end(describeFailure(error)),
    );
    return result;
  }
}

function describeFailure(error: unknown): Pick<CallEntry, 'httpStatus' | 'code'> {
  if (!isUpstreamError(error)) {
    return {};
  }
  const { status, code } = error;
  return { ...(status !== undefined && { httpStatus: status }), code };
}
