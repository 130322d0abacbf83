/**
 * Measures the CPU time that traces add to a request with one upstream call, by what the operator has registered:
 * node bench/tracing.ts [--rounds 15]
 *
 * Fails if a limit is exceeded: 1 µs without an SDK, 5 µs for a trace that is not sampled.
 */
import { parseArgs } from 'node:util';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  NoopSpanProcessor,
  type Sampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { pino } from 'pino';
import { ANONYMOUS } from '../src/auth/identity.ts';
import { createTracing } from '../src/telemetry/tracing/tracing.ts';
import type { UpstreamRequest, UpstreamResult } from '../src/upstream/request.ts';
import { readNumber } from './options.ts';

/** State of the process in which requests are traced. */
interface Variant {
  title: string;
  /** Sampler of the SDK; undefined without an SDK. */
  sampler?: Sampler;
  headers: Readonly<Record<string, string>>;
  /** Maximum, in microseconds. */
  limit?: number;
}

/** Number of requests per round. */
const REQUESTS = 50_000;

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const VARIANTS: readonly Variant[] = [
  { title: 'no SDK', headers: {}, limit: 1 },
  { title: 'no SDK, traceparent of a server', headers: { traceparent: TRACEPARENT } },
  { title: 'not sampled', sampler: new AlwaysOffSampler(), headers: {}, limit: 5 },
  {
    title: 'not sampled, traceparent of a server',
    sampler: new AlwaysOffSampler(),
    headers: { traceparent: TRACEPARENT },
    limit: 5,
  },
  { title: 'sampled, without export', sampler: new AlwaysOnSampler(), headers: {} },
];

const REQUEST: UpstreamRequest = {
  endpoint: { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' },
  authorization: 'ApiKey bench',
  path: '/v1/workflows/1',
  requestId: 'request',
  call: { route: '/v1/workflows/{workflowIdOrIdentifier}', expect: 'record' },
};
const UPSTREAM = new URL('http://127.0.0.1:3000');
const RESULT: UpstreamResult = { status: 200, body: {}, replayed: false, rateLimit: undefined, bytes: 2 };
const SUMMARY = {
  ...{ requestId: 'request', identity: ANONYMOUS, operation: 'Workflow', type: 'query' },
  ...{ code: undefined, status: 200, upstreamCalls: 1 },
};

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' } },
});
const rounds = readNumber('rounds', values.rounds);
const startTrace = createTracing(pino({ level: 'silent' }));

/** Returns the CPU time of one request with traces or without them, in microseconds. */
async function measure(headers: Variant['headers'], isTraced: boolean): Promise<number> {
  const source = { header: (name: string) => headers[name] };
  const started = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i += 1) {
    const operation = isTraced
      ? startTrace({ request: source, identity: { clientKind: 'server' }, startedAt: performance.now() })
      : void performance.now();
    const execute = async () => {
      operation?.startRequest(REQUEST, 0, UPSTREAM);
      await undefined;
      operation?.endRequest(REQUEST, RESULT);
      operation?.callEnded(REQUEST.endpoint, RESULT);
    };
    await (operation === undefined ? execute() : operation.run(execute));
    operation?.end(SUMMARY);
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / REQUESTS;
}

/** Returns the additional time. Takes the shortest rounds, because other processes on the machine only make rounds longer. */
async function measureVariant({ sampler, headers }: Variant): Promise<number> {
  if (sampler !== undefined) {
    trace.setGlobalTracerProvider(new TracerProvider({ sampler, spanProcessors: [new NoopSpanProcessor()] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }
  const without: number[] = [];
  const traced: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await measure(headers, false));
    traced.push(await measure(headers, true));
  }
  trace.disable();
  context.disable();
  return Math.min(...traced) - Math.min(...without);
}

for (const variant of VARIANTS) {
  const added = await measureVariant(variant);
  const { title, limit } = variant;
  const isExceeded = limit !== undefined && !(added <= limit);
  const note = limit === undefined ? '' : ` (limit ${limit} µs${isExceeded ? ', EXCEEDED' : ''})`;
  process.stdout.write(`${added.toFixed(2).padStart(6)} µs  ${title}${note}\n`);
  if (isExceeded) {
    process.exitCode = 1;
  }
}
