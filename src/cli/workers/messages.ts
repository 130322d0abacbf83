import { z } from 'zod';
import { isRecord } from '../../lib/is-record.ts';
import type { MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import type { Config } from '../config/load-config.ts';

const samples: z.ZodType<readonly MetricSamples[]> = z.array(
  z.object({
    name: z.string(),
    help: z.string(),
    type: z.enum(['counter', 'gauge', 'histogram']),
    aggregator: z.enum(['sum', 'max', 'min', 'first']),
    values: z.array(
      z.object({
        value: z.number(),
        labels: z.record(z.string(), z.union([z.string(), z.number()])),
        metricName: z.string().exactOptional(),
      }),
    ),
  }),
);

/** Parts of a worker that don't work although it serves, by name. */
const degradations = z.record(z.string(), z.string());

/** Reports of a worker to its primary. */
export const reports = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), url: z.string() }),
  z.object({ kind: z.literal('refused'), problem: z.string() }),
  z.object({ kind: z.literal('checked'), problem: z.string().optional() }),
  /** It received a connection. The primary closes its own copy. */
  z.object({ kind: z.literal('took'), connections: z.number() }),
  /** Its event loop runs. `problem` is why it is not ready. */
  z.object({ kind: z.literal('alive'), connections: z.number(), problem: z.string().optional(), degradations }),
  z.object({ kind: z.literal('samples'), samples }),
  /** It got SIGTERM. */
  z.object({ kind: z.literal('terminated') }),
]);

/** Report of a worker to its primary. */
export type Report = z.infer<typeof reports>;

/** Orders of the primary to a worker. */
export const orders = z.discriminatedUnion('kind', [
  /** Take the connection that comes with the message. */
  z.object({ kind: z.literal('connection') }),
  /** End, because others take over: answer the requests of the open connections as usual, then close them. */
  z.object({ kind: z.literal('retire') }),
  /** End, because the gateway stops: finish in-flight requests. */
  z.object({ kind: z.literal('stop') }),
  /** No more connections will come. */
  z.object({ kind: z.literal('sealed') }),
]);

/** Order of the primary to a worker. */
export type Order = z.infer<typeof orders>;

/** Schema of the configuration for workers. The primary has parsed it, so they don't do it again. */
export const configuration = z.custom<Config>(isRecord);

/** Configuration for workers. */
export type Configuration = z.infer<typeof configuration>;

/** Answers of a worker to the primary's questions. */
export interface WorkerAnswers {
  /** Its metrics. */
  samples: readonly MetricSamples[];
  /** Result of using the configuration that comes with the question: why it can't be used. */
  configure: { problem?: string | undefined };
}

/** Answers of the primary to a worker's questions. */
export interface PrimaryAnswers {
  /** Metrics of all processes, in Prometheus' text format. */
  metrics: string;
  status: GroupStatus;
  /** Configuration to start with. */
  configuration: Configuration;
}

/** Health of a group. */
export type GroupStatus = z.infer<typeof status>;

const status = z.object({
  problem: z.string().optional(),
  /** Number of workers that should run. */
  workers: z.number(),
  /** Number of workers that accept requests. */
  ready: z.number(),
  degradations,
});

/** Schemas of a worker's answers, by the kind of question. */
export const workerAnswers = { samples, configure: z.object({ problem: z.string().optional() }) };

/** Schemas of the primary's answers, by the kind of question. */
export const primaryAnswers = { metrics: z.string(), status, configuration };
