import { createHistogram } from 'node:perf_hooks';
import { type Connection, openConnection, type Received } from './connection.ts';
import { createRequests, type Outgoing } from './requests.ts';
import type { SubjectRequest } from './subjects.ts';
import type { Workload } from './workloads.ts';

/** What a load came to. */
export interface LoadResult {
  answered: number;
  /** From the first request to the last answer. */
  seconds: number;
  /** Answers that were no 200 or of another length than the first one of their kind, and connections that broke. */
  failed: number;
  p50Us: number;
  p99Us: number;
}

export interface LoadOptions {
  connections: number;
  /** For how long requests are sent; what is on its way then is waited for. @default until there are enough of them */
  seconds?: number;
  /** How many requests are sent. @default as many as fit into the time */
  requests?: number;
  /**
   * Requests a second that fall due, however fast they are answered: equally many every millisecond. A request's time counts from when
   * it was due, so that whoever holds up the next ones pays for them. @default each connection asks again as soon as it is answered
   */
  rate?: number;
  /** @param index how many requests were sent before, @param connection which connection sends it */
  next(index: number, connection: number): Outgoing;
}

/** A subject that answers nothing at all for so long is given up. */
const PATIENCE_MS = 30_000;

/** Asks for a workload from all its connections. */
export const load = (
  url: string,
  workload: Workload,
  request: SubjectRequest,
  options: Pick<LoadOptions, 'seconds' | 'requests' | 'rate'>,
): Promise<LoadResult> =>
  drive(url, { connections: workload.connections, next: createRequests(url, workload, request), ...options });

/** Sends requests until there are enough of them, and waits for every answer: none is lost that cost the subject something. */
export async function drive(
  url: string,
  { connections, seconds = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY, rate, next }: LoadOptions,
): Promise<LoadResult> {
  const opened: Connection[] = [];
  for (let index = 0; index < connections; index += 1) {
    opened.push(await openConnection(url)); // One by one: the queue of connections to accept is short.
  }
  const free = opened.map((_, index) => index);
  const times = createHistogram({ highest: 60_000_000 });
  const lengths = new Map<string, number>();
  const over = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  let [sent, answered, failed] = [0, 0, 0];
  let answeredAt = startedAt;

  /** When the next request is due: in a closed loop, at once. */
  const dueAt = (): number => (rate === undefined ? performance.now() : startedAt + Math.floor((sent * 1_000) / rate));

  function isRight({ status, length }: Received, kind: string): boolean {
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
      answeredAt = performance.now();
      times.record(Math.max(1, Math.round((answeredAt - due) * 1_000)));
      if (received !== undefined && isRight(received, kind)) {
        answered += 1;
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
        return; // An answer or the next millisecond goes on.
      }
      send(connection, due);
      due = dueAt();
    }
    if (answered + failed === sent) {
      over.resolve();
    }
  }

  const ticks = setInterval(
    () => {
      sendDue();
      if (performance.now() - answeredAt > PATIENCE_MS) {
        over.reject(new Error(`no answer for ${PATIENCE_MS / 1_000} seconds`));
      }
    },
    rate === undefined ? 1_000 : 1,
  );
  sendDue();
  try {
    await over.promise;
  } finally {
    clearInterval(ticks);
    for (const connection of opened) {
      connection.close();
    }
  }
  return {
    answered,
    seconds: (answeredAt - startedAt) / 1_000,
    failed,
    p50Us: times.percentile(50),
    p99Us: times.percentile(99),
  };
}
