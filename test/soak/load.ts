import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Claim, Ledger } from './ledger.ts';
import { type Answer, createOperations, type Operation, readClaims } from './operations.ts';

/** What became of one operation. */
export interface Outcome {
  /** When it was answered, in milliseconds since the soak began. */
  at: number;
  reads: number;
  /** Reads that were not answered. */
  unanswered: number;
  /** What the client was told of each write. */
  claims: Claim[];
  /** Codes of `errors`; 'shed' for 503, 'broken' for no answer at all, 'left' for a client that did not wait. */
  codes: string[];
  /** Whether the gateway said that it does not call the upstream at present. */
  isCircuitOpen: boolean;
}

export interface LoadOptions {
  /** The GraphQL endpoint. */
  url: string;
  ledger: Ledger;
  random: () => number;
  /** Each sends one operation at a time. */
  clients: number;
  onOutcome(outcome: Outcome): void;
}

/** Clients in a closed loop: who waits for an answer sends nothing, so the load limits itself. */
export interface Load {
  /** @param leaveShare how many of the clients go away before they are answered */
  setLeaveShare(leaveShare: number): void;
  /** Operations that were sent so far. */
  readonly offered: number;
  /** Lets all clients finish what they have begun. */
  stop(): Promise<void>;
}

/** The pause of a client between two operations, in milliseconds, and after a failure: it is told to come back later. */
const THINK_MS = 60;
const BACK_OFF_MS = 250;

/** How soon those go away who do, in milliseconds. */
const PATIENCE_MS = 20;

const KEYS = 200;

export function startLoad({ url, ledger, random, clients, onOutcome }: LoadOptions): Load {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  const nextOperation = createOperations(ledger, random);
  const stopping = new AbortController();
  let leaveShare = 0;
  let offered = 0;

  /** Most callers come back; every tenth operation is of one who was never seen. */
  const pickKey = () => (random() < 0.1 ? `once-${offered}` : `key-${Math.floor(random() * KEYS)}`);

  async function send({ query, variables }: Operation, signal: AbortSignal | null) {
    const { statusCode, body } = await pool.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `ApiKey ${pickKey()}` },
      body: JSON.stringify({ query, variables }),
      signal,
    });
    const answer: unknown = await body.json();
    return { status: statusCode, answer: answer as Answer }; // The schema's types; `readClaims` doubts the rest.
  }

  async function run(operation: Operation): Promise<Outcome> {
    const { reads, markers } = operation;
    const leaves = random() < leaveShare;
    const signal = leaves ? AbortSignal.timeout(Math.ceil(random() * PATIENCE_MS)) : null;
    const base = { reads, unanswered: reads, isCircuitOpen: false };
    try {
      const { status, answer } = await send(operation, signal);
      const at = performance.now();
      if (status !== 200) {
        return {
          ...base,
          at,
          claims: markers.map(() => 'NOT_APPLIED'),
          codes: [status === 503 ? 'shed' : `${status}`],
        };
      }
      const errors = answer.errors ?? [];
      const unanswered = Math.min(reads, countFailures(errors));
      const failedFirst = errors.some(({ path }) => path?.length === 1); // Then the other reads were not even begun.
      return {
        at,
        reads: failedFirst ? unanswered : reads,
        unanswered,
        claims: readClaims(operation, answer),
        codes: errors.map(({ extensions }) => extensions.code),
        isCircuitOpen: errors.some(({ message }) => message.includes('not called again yet')),
      };
    } catch {
      return { ...base, at: performance.now(), claims: markers.map(() => 'left'), codes: [leaves ? 'left' : 'broken'] };
    }
  }

  async function runClient(): Promise<void> {
    await sleep(random() * THINK_MS);
    while (!stopping.signal.aborted) {
      const operation = nextOperation();
      offered += 1;
      const outcome = await run(operation);
      for (const [i, marker] of operation.markers.entries()) {
        ledger.claim(marker, outcome.claims[i] ?? 'UNKNOWN');
      }
      onOutcome(outcome);
      const pause = outcome.codes.some((code) => code !== 'left') ? BACK_OFF_MS : THINK_MS;
      await sleep(pause * 2 * random());
    }
  }

  const running = Array.from({ length: clients }, runClient);
  return {
    setLeaveShare(share) {
      leaveShare = share;
    },
    get offered() {
      return offered;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await pool.close();
    },
  };
}

/** A list that groups are taken from fails once, however many fields it fails. */
function countFailures(errors: NonNullable<Answer['errors']>): number {
  const routes = errors.map(({ path, extensions: { upstream } }) =>
    upstream === undefined || upstream.route.endsWith('}') ? path?.join('.') : upstream.route,
  );
  return new Set(routes).size;
}
