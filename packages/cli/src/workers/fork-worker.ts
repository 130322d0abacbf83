// A worker as the primary sees it: its process, its state and its end.

import type { ChildProcess } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Config } from '../config/load-config.ts';
import {
  type Handlers,
  type PrimaryFunctions,
  ProcessChannel,
  primaryFunctions,
  type WorkerFunctions,
  type WorkerState,
  workerFunctions,
} from './messages.ts';
import { HEARTBEAT_MS, WORKER_ID } from './worker.ts';

export interface Ending {
  workerPid?: number | undefined;
  code?: number | null;
  signal?: string | null;
  /** Problem that the worker reported before it ended, or that kept it from starting. */
  problem?: string | undefined;
}

/** Time in which a worker returns its state, in milliseconds. */
const STATE_MS = 1_000;

/** Silence after which a worker is killed, in milliseconds. A full garbage collection or a swapped-out process takes a few seconds at most. */
const SILENCE_MS = 10_000;

/** The same for a worker that starts. */
const START_MS = 60_000;

export class WorkerProcess {
  /** Number of its place in the group, which its replacement takes over. The log and the metrics show it. */
  readonly slot: number;
  readonly pid: number | undefined;
  /** Resolves when it has ended and its last messages have arrived. */
  readonly ended: Promise<Ending>;
  isListening = false;
  /** Whether another worker starts in its place. It serves as before until that listens, and ends then. */
  isReplaced = false;
  /** Whether it was told to end because its replacement listens. */
  isRetiring = false;
  state: WorkerState = { connections: 0, degradations: {}, samples: [] };
  configuration: Config | undefined;
  /** Whether it was killed. On a busy machine, its end may take longer than an interval. */
  isKilled = false;
  readonly #worker: Worker;
  readonly #channel: ProcessChannel<WorkerFunctions, PrimaryFunctions>;
  /** Intervals without a sign of life. */
  #silent = 0;
  #refusal: string | undefined;

  /**
   * Starts the process.
   *
   * @param id number of the worker, counted over all that were started
   * @param handlers functions that the group provides. The others concern only the worker itself
   */
  constructor(id: number, slot: number, handlers: Omit<Handlers<PrimaryFunctions>, 'alive' | 'refused'>) {
    this.slot = slot;
    this.#worker = cluster.fork({ [WORKER_ID]: String(id) });
    const { process: child } = this.#worker;
    this.pid = child.pid;
    const all: Handlers<PrimaryFunctions> = {
      ...handlers,
      alive: (state) => {
        this.state = state;
      },
      refused: (problem) => {
        this.#refusal = problem;
      },
    };
    this.#channel = new ProcessChannel(workerFunctions, primaryFunctions, all, child);
    child.on('message', () => {
      this.#silent = 0;
    });
    this.ended = this.#waitForEnd(closeLostConnection(child));
  }

  async #waitForEnd(closeLost: () => void): Promise<Ending> {
    const { process: child } = this.#worker;
    const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
    this.#worker.on('error', fail);
    if (child.pid === undefined) {
      return { problem: `A worker could not be started (${await failed}).` };
    }
    await new Promise((resolve) => child.once('exit', resolve));
    while (child.connected) {
      await immediate(); // Its last messages arrive.
    }
    const { exitCode: code, signalCode: signal, pid: workerPid } = child;
    if (code !== 0) {
      closeLost();
    }
    // Otherwise, Node.js would keep the port open for a worker that was killed before it took a connection: there is no event `disconnect`.
    this.#worker.disconnect();
    return { problem: this.#refusal, workerPid, code, signal };
  }

  /** Counts an interval. Returns whether the worker has been silent for too long. */
  isSilent(): boolean {
    this.#silent += 1;
    return this.#silent * HEARTBEAT_MS > (this.isListening ? SILENCE_MS : START_MS);
  }

  /** Updates the state. If the worker is busy or has ended, the last known one stays. */
  async fetchState(): Promise<void> {
    this.state = await this.#channel.call('state', undefined, STATE_MS).catch(() => this.state);
  }

  /** Tells it to end because its replacement listens. */
  retire(): void {
    this.isRetiring = true;
    void this.#channel.tell('retire', undefined);
  }

  /** Tells it to answer in-flight requests and end. */
  stop(): void {
    void this.#channel.tell('stop', undefined);
  }

  kill(): void {
    this.isKilled = true;
    this.#worker.kill('SIGKILL');
  }
}

/**
 * Returns a function that closes the connection that was last passed to a worker, unless the worker has taken it. Node.js keeps it open if the worker
 * is killed first, so its client would wait forever. To know the connection, this replaces the method that Node.js sends it with.
 */
function closeLostConnection(child: ChildProcess): () => void {
  const { send } = child;
  let last: unknown;
  child.send = (...args: readonly unknown[]): boolean => {
    last = args[1] ?? last;
    return Reflect.apply(send, child, args);
  };
  return () => {
    if (isClosable(last)) {
      last.close(); // Does nothing if it is closed already.
    }
  };
}

const isClosable = (value: unknown): value is { close(): void } =>
  typeof value === 'object' && value !== null && 'close' in value && typeof value.close === 'function';
