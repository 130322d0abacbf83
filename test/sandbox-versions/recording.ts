import type { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';

/** A request to a sandbox, and its response. */
export interface RecordedExchange {
  as: keyof typeof SANDBOX_KEYS;
  /** Method and path: `GET /v1/…`. */
  target: string;
  body?: Record<string, unknown>;
  /** The `Idempotency-Key`. */
  key?: string;
  status: number;
  /** The body of the response. */
  text: string;
}

/** The exchanges that belong to a recorded sandbox file. */
export interface Recording {
  /** The time of every exchange. */
  now: string;
  writes: RecordedExchange[];
  reads: RecordedExchange[];
}
