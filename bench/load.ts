// Sends requests over many connections, and measures how long the responses take.

import { createHistogram } from 'node:perf_hooks';
import { type Connection, openConnection, type ResponseSummary } from './connection.ts';
import type { NextRequest } from './requests.ts';

/** Result of a load. */
export interface LoadResult {
  answered: number;
  /** Time from the first request to the last response. */
  seconds: number;
  /** Responses that were not as long as the first one of their kind or had another status than 200 and 503, and broken connections. */
  failed: number;
  /** Responses with status 503. A gateway refuses requests if other load on the machine delays it. */
  refused: number;
  p50Us: number;
  p99Us: number;
}

/** Options of a load. */
export interface LoadOptions {
  /** Number of concurrent connections. */
  connections: number;
  /** Time in which requests are sent. In-flight requests are then awaited. @default until `requests` were sent */
  seconds?: number;
  /** Number of requests. @default as many as possible in `seconds` */
  requests?: number;
  /**
   * Requests per second, due at even intervals regardless of responses. A request's time counts from when it was due, so that a delay
   * of the next requests counts too. @default each connection sends its next request as soon as it has a response
   */
  rate?: number;
  next: NextRequest;
  /** Time without any response after which the load fails. @default 30 s */
  stallTimeoutMs?: number;
}

/** Sends requests and waits for every response, so that all work of the subject is counted. */
export async function load(
  url: string,
  {
    connections,
    seconds = Number.POSITIVE_INFINITY,
    requests = Number.POSITIVE_INFINITY,
    rate,
    next,
    stallTimeoutMs = 30_000,
  }: LoadOptions,
): Promise<LoadResult> {
  const opened: Connection[] = [];
  for (let index = 0; index < connections; index += 1) {
    opened.push(await openConnection(url)); // One by one, because the listen backlog is short.
  }
  const free = opened.map((_, index) => index);
  const times = createHistogram({ highest: 60_000_000 });
  const lengths = new Map<string, number>();
  const done = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  let [sent, answered, failed, refused] = [0, 0, 0, 0];
  let lastResponseAt = startedAt;

  /** Returns when the next request is due: now, if no rate is set. */
  const dueAt = (): number => (rate === undefined ? performance.now() : startedAt + Math.floor((sent * 1_000) / rate));

  function isExpected({ status, length }: ResponseSummary, kind: string): boolean {
    if (status !== 200) {
      return false;
    }
    const expected = lengths.get(kind) ?? length;
    lengths.set(kind, expected);
    return length === expected;
  }

  function send(connection: number, due: number): void {
    const { kind, bytes } = next(sent, connection);
    sent += 1;
    opened[connection]?.send(bytes, (received) => {
      lastResponseAt = performance.now();
      times.record(Math.max(1, Math.round((lastResponseAt - due) * 1_000)));
      if (received !== undefined && isExpected(received, kind)) {
        answered += 1;
      } else if (received?.status === 503) {
        refused += 1;
      } else {
        failed += 1;
      }
      free.push(connection);
      sendDue();
    });
  }

  function sendDue(): void {
    let due = dueAt();
    while (sent < requests && due < endAt) {
      const connection = due <= performance.now() ? free.shift() : undefined;
      if (connection === undefined) {
        return; // The next response or tick continues.
      }
      send(connection, due);
      due = dueAt();
    }
    if (answered + failed + refused === sent) {
      done.resolve();
    }
  }

  const ticks = setInterval(
    () => {
      sendDue();
      if (performance.now() - lastResponseAt > stallTimeoutMs) {
        done.reject(new Error(`no response for ${stallTimeoutMs / 1_000} seconds`));
      }
    },
    rate === undefined ? 1_000 : 1,
  );
  sendDue();
  try {
    await done.promise;
  } finally {
    clearInterval(ticks);
    for (const connection of opened) {
      connection.close();
    }
  }
  return {
    answered,
    seconds: (lastResponseAt - startedAt) / 1_000,
    failed,
    refused,
    p50Us: times.percentile(50),
    p99Us: times.percentile(99),
  };
}
