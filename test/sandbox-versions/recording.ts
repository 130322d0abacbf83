import type { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';

/** Request to a sandbox, with its response. */
export interface RecordedExchange {
  as: keyof typeof SANDBOX_KEYS;
  /** Method and path: `GET /v1/…`. */
  target: string;
  body?: Record<string, unknown>;
  /** Value of `Idempotency-Key`. */
  key?: string;
  status: number;
  /** Body of the response. */
  text: string;
}

/** Exchanges that belong to a recorded sandbox file. */
export interface Recording {
  /** Time of every exchange. */
  now: string;
  writes: RecordedExchange[];
  reads: RecordedExchange[];
}
