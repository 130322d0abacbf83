// What the primary and its workers call of each other, and the connection on which they do.

import type { ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { MetricSamples } from '../../../../src/telemetry/metrics.ts';
import type { Process } from '../command.ts';
import type { Config } from '../config/load-config.ts';

/** Functions of a process that the other one calls, by name. Everything that arrives is validated by their schemas. */
type Functions<Name extends PropertyKey> = Readonly<Record<Name, { argument: z.ZodType; result: z.ZodType }>>;

type Argument<F extends Functions<keyof F>, Name extends keyof F> = z.output<F[Name]['argument']>;
type Result<F extends Functions<keyof F>, Name extends keyof F> = z.output<F[Name]['result']>;

export type Handlers<F extends Functions<keyof F>> = {
  readonly [Name in keyof F]: (argument: Argument<F, Name>) => Result<F, Name> | Promise<Result<F, Name>>;
};

const nothing = z.void();
const problem = z.string().optional();

const workerState = z.object({
  connections: z.number(),
  /** Reason for rejecting requests. */
  problem,
  /** Parts of it that don't work although it serves, by name. */
  degradations: z.record(z.string(), z.string()),
  /** Metrics, in the form in which they are combined. */
  samples: z.custom<readonly MetricSamples[]>(Array.isArray),
});

export type WorkerState = z.infer<typeof workerState>;

export const primaryFunctions = {
  /** The primary has parsed it, so workers don't do it again. */
  configuration: { argument: nothing, result: z.custom<Config>(isRecord) },
  /** Returns the port to listen on, which is free from then on. */
  port: { argument: nothing, result: z.int() },
  /** Returns once the established connections are accepted and passed on. */
  connectionsArrived: { argument: nothing, result: nothing },
  /** Health and metrics of all processes. The metrics are in Prometheus' text format. */
  health: {
    argument: nothing,
    result: z.object({ problem, details: z.record(z.string(), z.union([z.string(), z.number()])).exactOptional() }),
  },
  metrics: { argument: nothing, result: z.string() },
  /** The worker's event loop runs, and this is its state. */
  alive: { argument: workerState, result: nothing },
  /** The worker serves at this URL. */
  listening: { argument: z.string(), result: nothing },
  /** The worker can't start, and this is why. */
  refused: { argument: z.string(), result: nothing },
  /** The worker has checked the service: why it is unreachable. */
  checked: { argument: problem, result: nothing },
  /** The worker got SIGTERM. */
  terminated: { argument: nothing, result: nothing },
};

export type PrimaryFunctions = typeof primaryFunctions;

export const workerFunctions = {
  state: { argument: nothing, result: workerState },
  /** Ends, because another worker took its place: answers the requests of the open connections as usual, then closes them. */
  retire: { argument: nothing, result: nothing },
  /** Ends, because the gateway stops: finishes in-flight requests. */
  stop: { argument: nothing, result: nothing },
};

export type WorkerFunctions = typeof workerFunctions;

const calls = z.object({ call: z.int(), name: z.string(), argument: z.unknown().optional() });
const replies = z.object({ reply: z.int(), result: z.unknown().optional() });

/** Time in which the other process replies, in milliseconds. */
const REPLY_MS = 2_000;

/** One end of the connection between the primary and a worker. */
export class ProcessChannel<Remote extends Functions<keyof Remote>, Local extends Functions<keyof Local>> {
  readonly #remote: Remote;
  readonly #local: Local;
  readonly #handlers: Handlers<Local>;
  readonly #send: (message: object, onSent: (error: Error | null) => void) => void;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #lastCall = 0;

  /** @param peer other process, or this one as its child */
  constructor(remote: Remote, local: Local, handlers: Handlers<Local>, peer: ChildProcess | Process) {
    this.#remote = remote;
    this.#local = local;
    this.#handlers = handlers;
    this.#send = (message, onSent) => void peer.send?.(message, undefined, {}, onSent);
    peer.on('message', (message) => this.#receive(message));
  }

  /**
   * Calls a function of the other process.
   *
   * @param timeoutMs time in which it must reply. @default 2000
   * @throws if there is no reply
   */
  async call<Name extends keyof Remote & string>(
    name: Name,
    argument: Argument<Remote, Name>,
    timeoutMs = REPLY_MS,
  ): Promise<Result<Remote, Name>> {
    this.#lastCall += 1;
    const call = this.#lastCall;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(call, resolve);
    const timer = setTimeout(() => reject(new Error(`The call of ${name} was not answered.`)), timeoutMs).unref();
    this.#send({ call, name, argument }, (error) => error && reject(error));
    try {
      return z.parse<Remote[Name]['result']>(this.#remote[name].result, await promise);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(call);
    }
  }

  /** Calls a function of the other process, which may have ended. Resolves when it has replied or can't. */
  async tell<Name extends keyof Remote & string>(name: Name, argument: Argument<Remote, Name>): Promise<void> {
    await this.call(name, argument).catch(() => {});
  }

  /** Handles a message of the other process. Unknown ones are ignored, such as those of `node --watch`. */
  #receive(message: unknown): void {
    const { data: call } = calls.safeParse(message);
    const { data: reply } = replies.safeParse(message);
    if (call !== undefined && this.#isLocal(call.name)) {
      this.#answer(call.call, call.name, call.argument).catch(() => {}); // The caller then gets no reply in time.
    } else if (reply !== undefined) {
      this.#waiting.get(reply.reply)?.(reply.result);
    }
  }

  #isLocal(name: string): name is keyof Local & string {
    return Object.hasOwn(this.#local, name);
  }

  async #answer<Name extends keyof Local>(reply: number, name: Name, argument: unknown): Promise<void> {
    const { success, data } = z.safeParse<Local[Name]['argument']>(this.#local[name].argument, argument);
    if (success) {
      this.#send({ reply, result: await this.#handlers[name](data) }, () => {});
    }
  }
}
