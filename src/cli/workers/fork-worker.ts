import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Degradations } from '../../server/health.ts';
import { type CounterFile, createCounterFile } from '../../telemetry/counter-file.ts';
import { type MetricSamples, newerCounters, onlyCounters } from '../../telemetry/metrics-snapshot.ts';
import { type Channel, createChannel } from './channel.ts';
import type { Taker } from './connection-queue.ts';
import {
  type Configuration,
  type Order,
  type PrimaryAnswers,
  type Report,
  reports,
  type WorkerAnswers,
  workerAnswers,
} from './messages.ts';
import { type Assignment, HEARTBEAT_MS, variablesFor } from './worker.ts';
import { type Ending, startChild, type WorkerProgram, waitForEnd } from './worker-child.ts';

/** Assignment of a worker, with its slot in the group. */
interface WorkerIdentity extends Omit<Assignment, 'hasCounterFile'> {
  slot: number;
}

/** Functions that the primary provides for a worker. */
export interface WorkerEvents {
  /** Called for `listening`, `checked` and `terminated`. */
  onReport(worker: WorkerProcess, report: Report): void;
  /** Called when a connection can be passed on again: one that wasn't taken, or the next one. */
  onFree(connection?: Socket): void;
  /** Answers to its questions. */
  answers: { [Kind in keyof PrimaryAnswers]: () => PrimaryAnswers[Kind] | Promise<PrimaryAnswers[Kind]> };
}

/** Time in which a worker answers, in milliseconds. */
const ANSWER_MS = 1_000;

/** Time without a sign of life in which a worker may start, in milliseconds. */
const START_MS = 60_000;

/** Worker as its primary sees it. */
export class WorkerProcess implements Taker {
  /** Number of its place in the group, which its replacement takes over. The log and the metrics show it. */
  readonly slot: number;
  readonly pid: number | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>;
  isListening = false;
  /** Whether it is about to end, because others take over. */
  isRetiring = false;
  connections = 0;
  /** Reason for rejecting requests. */
  problem: string | undefined;
  /** Parts of it that don't work although it serves, by name. */
  degradations: Degradations = {};
  /** Configuration that it uses or starts with; undefined if that is unknown. */
  configuration: Configuration | undefined;
  readonly #child: ChildProcess;
  readonly #channel: Channel<Order, WorkerAnswers>;
  readonly #events: WorkerEvents;
  readonly #file: CounterFile | undefined;
  /** Connection that was sent but not taken yet. */
  #pending: Socket | undefined;
  #samples: readonly MetricSamples[] = [];
  /** Intervals without a sign of life. */
  #silent = -START_MS / HEARTBEAT_MS;
  #refusal: string | undefined;

  constructor(program: WorkerProgram, { slot, ...assignment }: WorkerIdentity, events: WorkerEvents) {
    this.slot = slot;
    this.#events = events;
    this.#file = createCounterFile(program.counterFolders);
    const variables = variablesFor({ ...assignment, hasCounterFile: this.#file !== undefined });
    const child = startChild(program, variables, this.#file);
    this.#child = child;
    this.pid = child.pid;
    this.#channel = createChannel<Order, Report, WorkerAnswers, PrimaryAnswers>({
      send: (message, connection, onSent) => void child.send(message, connection, { keepOpen: true }, onSent),
      messages: reports,
      onMessage: (report) => this.#onReport(report),
      asked: workerAnswers,
      answers: events.answers,
    });
    child.on('message', this.#channel.receive);
    // Its last report may have the reason.
    this.ended = waitForEnd(child).then((ending) => ({ problem: this.#refusal, ...ending }));
  }

  get isFree(): boolean {
    return this.isListening && !this.isRetiring && this.#pending === undefined;
  }

  /** Passes a connection on. This process keeps its copy until the worker has taken it: it may end before. */
  give(connection: Socket): void {
    this.#pending = connection;
    this.connections += 1;
    void this.#channel.tell({ kind: 'connection' }, connection);
  }

  #onReport(report: Report): void {
    this.#silent = 0;
    if (report.kind === 'refused') {
      this.#refusal = report.problem;
    } else if (report.kind === 'samples') {
      this.#samples = report.samples;
    } else if (report.kind === 'alive') {
      this.connections = report.connections + (this.#pending === undefined ? 0 : 1);
      this.problem = report.problem;
      this.degradations = report.degradations;
    } else if (report.kind === 'took') {
      this.connections = report.connections;
      this.#pending?.destroy(); // Closes only this copy.
      this.#pending = undefined;
      this.#events.onFree();
    } else {
      this.isListening ||= report.kind === 'listening';
      this.#events.onReport(this, report);
    }
  }

  /** Passes another configuration on. Returns why the worker can't use it; undefined if it does. */
  async configure(configuration: Configuration, timeoutMs: number): Promise<string | undefined> {
    const answer = this.#channel.ask('configure', timeoutMs, configuration).then(
      ({ problem }) => problem,
      () => {
        this.configuration = undefined; // It may still use it, before the next one that it gets.
        return 'it did not respond in time';
      },
    );
    const problem = await Promise.race([answer, this.ended.then(() => 'it ended')]);
    if (problem === undefined) {
      this.configuration = configuration;
    }
    return problem;
  }

  /** Counts an interval. Returns whether the worker has been silent for longer than this. */
  isSilent(timeoutMs: number): boolean {
    this.#silent += 1;
    return this.#silent * HEARTBEAT_MS > timeoutMs;
  }

  /** Asks for the current metrics. */
  async fetchSamples(): Promise<void> {
    try {
      this.#samples = await this.#channel.ask('samples', ANSWER_MS);
    } catch {
      // It is busy or has ended: the last known ones stay.
    }
  }

  /** Returns the last known metrics. Its file has counters that it could not report any more. */
  samples(): MetricSamples[] {
    const counters = newerCounters(onlyCounters(this.#samples), this.#file?.read() ?? []);
    return [...counters, ...this.#samples.filter(({ type }) => type === 'gauge')];
  }

  /** Tells it to end because others take over. */
  retire(): void {
    this.isRetiring = true;
    void this.#channel.tell({ kind: 'retire' });
  }

  /** Tells it to answer in-flight requests and end. */
  stop(): void {
    void this.#channel.tell({ kind: 'stop' }); // A worker that has ended doesn't need the message.
  }

  /** Tells it that no more connections will come. */
  endConnections(): void {
    void this.#channel.tell({ kind: 'sealed' });
  }

  /** Ends it immediately. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Releases what this process held for it, when it has ended. Returns its counters, to be added to the totals. */
  release(): MetricSamples[] {
    const counters = onlyCounters(this.samples());
    this.#file?.close();
    const connection = this.#pending;
    this.#pending = undefined;
    this.#events.onFree(connection);
    return counters;
  }
}
