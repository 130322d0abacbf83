// Sends operations from many clients, each of which waits for its responses.

import { setTimeout as sleep } from 'node:timers/promises';
import { connectClients, runConcurrently } from '../support/concurrent-load.ts';
import type { Ledger, ReportedOutcome } from './ledger.ts';
import { createOperations, type GraphQLResponse, type Operation, readOutcomes } from './operations.ts';

/** Result of one operation. */
export interface OperationResult {
  /** Time of the response since the start of the soak test, in milliseconds. */
  at: number;
  reads: number;
  /** Reads that failed. */
  failedReads: number;
  /** Reported outcome of each write. */
  writeOutcomes: ReportedOutcome[];
  /** Codes of `errors`; 'shed' for 503, 'broken' for no response, 'left' for a client that disconnected. */
  codes: string[];
  /** Whether the gateway reported an open circuit breaker. */
  isCircuitOpen: boolean;
}

/** Clients in a closed loop. */
export type Load = ReturnType<typeof startLoad>;

/** Mean pause of a client between two operations, and after a failure, in milliseconds. */
const THINK_MS = 60;
const BACK_OFF_MS = 250;

/** Maximum time after which a client disconnects, in milliseconds. */
const DISCONNECT_WITHIN_MS = 20;

const KEYS = 200;

/** Starts clients, each of which sends one operation at a time. One that waits for a response sends nothing, so the load limits itself. */
export function startLoad(
  url: string,
  clients: number,
  ledger: Ledger,
  random: () => number,
  onResult: (result: OperationResult) => void,
) {
  const connected = connectClients(url, clients);
  const nextOperation = createOperations(ledger, random);
  let isStopping = false;
  let disconnectShare = 0;
  let offered = 0;

  /** Returns a key: a new one for every tenth operation, otherwise a recurring one. */
  const pickKey = () => (random() < 0.1 ? `once-${offered}` : `key-${Math.floor(random() * KEYS)}`);

  async function send({ query, variables }: Operation, signal: AbortSignal | null) {
    const { status, text } = await connected.send({ query, variables, authorization: `ApiKey ${pickKey()}`, signal });
    const response: unknown = JSON.parse(text);
    return { status, response: response as GraphQLResponse }; // Typed by the schema; `readOutcomes` checks the rest.
  }

  async function run(operation: Operation): Promise<OperationResult> {
    const { reads, markers } = operation;
    const disconnects = random() < disconnectShare;
    const signal = disconnects ? AbortSignal.timeout(Math.ceil(random() * DISCONNECT_WITHIN_MS)) : null;
    const base = { reads, failedReads: reads, isCircuitOpen: false };
    try {
      const { status, response } = await send(operation, signal);
      const at = performance.now();
      if (status !== 200) {
        return {
          ...base,
          at,
          writeOutcomes: markers.map(() => 'NOT_APPLIED'),
          codes: [status === 503 ? 'shed' : `${status}`],
        };
      }
      const errors = response.errors ?? [];
      const failedReads = Math.min(reads, countFailures(errors));
      const failedFirst = errors.some(({ path }) => path?.length === 1); // The other reads were never started.
      return {
        at,
        reads: failedFirst ? failedReads : reads,
        failedReads,
        writeOutcomes: readOutcomes(operation, response),
        codes: errors.map(({ extensions }) => extensions.code),
        isCircuitOpen: errors.some(({ message }) => message.includes('Calls to it are paused')),
      };
    } catch {
      return {
        ...base,
        at: performance.now(),
        writeOutcomes: markers.map(() => 'left'),
        codes: [disconnects ? 'left' : 'broken'],
      };
    }
  }

  async function runNext(): Promise<void> {
    const operation = nextOperation();
    offered += 1;
    const result = await run(operation);
    for (const [i, marker] of operation.markers.entries()) {
      ledger.recordOutcome(marker, result.writeOutcomes[i] ?? 'UNKNOWN');
    }
    onResult(result);
    const pause = result.codes.some((code) => code !== 'left') ? BACK_OFF_MS : THINK_MS;
    await sleep(pause * 2 * random());
  }

  const running = runConcurrently(Number.POSITIVE_INFINITY, clients, runNext, () => isStopping);
  return {
    /** Sets the share of operations whose client disconnects before the response. */
    setDisconnectShare(share: number): void {
      disconnectShare = share;
    },
    /** Number of operations sent so far. */
    get sent(): number {
      return offered;
    },
    /** Stops after the operations in flight. */
    async stop(): Promise<void> {
      isStopping = true;
      await running;
      await connected[Symbol.asyncDispose]();
    },
  };
}

/** Counts failed upstream reads. A failed list of groups counts once, however many fields depend on it. */
function countFailures(errors: NonNullable<GraphQLResponse['errors']>): number {
  const routes = errors.map(({ path, extensions: { upstream } }) =>
    upstream === undefined || upstream.route.endsWith('}') ? path?.join('.') : upstream.route,
  );
  return new Set(routes).size;
}
