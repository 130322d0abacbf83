import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { VERSION } from '../../src/lib/installation.ts';
import { readKit } from '../support/deploy.ts';
import { ROOT } from '../support/docs.ts';
import { listen } from '../support/listen.ts';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

/** Members of exports that are compared. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes: z.array(z.unknown()),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({
        attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
      }),
      scopeSpans: z.array(z.object({ scope: z.object({ name: z.literal('notigraph') }), spans: z.array(spanSchema) })),
    }),
  ),
});

/** Starts an OTLP receiver that accepts only valid exports of traces. */
async function startReceiver() {
  const spans: z.infer<typeof spanSchema>[] = [];
  const problems: unknown[] = [];
  const resource: Record<string, unknown> = {};
  const server = createServer(async (request, response) => {
    const { data, error } = exportSchema.safeParse(await json(request));
    const isExport =
      `${request.method} ${request.url} ${request.headers['content-type']}` === 'POST /v1/traces application/json';
    if (data === undefined || !isExport) {
      problems.push(error?.issues ?? request.url);
    }
    for (const { key, value } of data?.resourceSpans.flatMap((each) => each.resource.attributes) ?? []) {
      resource[key] = value.stringValue;
    }
    spans.push(...(data?.resourceSpans ?? []).flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.writeHead(data === undefined ? 400 : 200, { 'content-type': 'application/json' }).end('{}');
  });
  const { url, close } = await listen(server);
  return { url, spans, problems, resource, [Symbol.asyncDispose]: close };
}

/** Runs the program with the module of the image in a folder, sends an operation, and stops the program. */
async function traceOperation(
  cwd: string,
  collector: string,
  workers: number,
  env: Record<string, string> = {},
  onStop: () => void = () => {},
) {
  await writeFile(join(cwd, 'otel.mjs'), readKit('tracing/register.js'));
  await mkdir(join(cwd, 'node_modules'));
  await symlink(ROOT, join(cwd, 'node_modules/notigraph'));
  await symlink(join(ROOT, 'node_modules/@opentelemetry'), join(cwd, 'node_modules/@opentelemetry'));
  await using notigraph = await startNotigraph({
    cwd,
    nodeArgs: ['--import', './otel.mjs'],
    args: ['--workers', String(workers)],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector, ...env },
  });
  const response = await fetch(notigraph.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'ApiKey sandbox-development-key',
      traceparent: `00-${TRACE_ID}-${SPAN_ID}-01`, // Sampled by the caller, so the program's ratio doesn't matter.
    },
    body: JSON.stringify({ query: '{ workflow(idOrIdentifier: "payment-failed") { name } }' }),
  });
  expect(await response.json()).toEqual({ data: { workflow: { name: 'Payment failed' } } });
  onStop();
  return await notigraph.stop('SIGTERM');
}

it.each([1, 2])(
  'with %i workers, the documented program exports traces over OTLP, the last ones on shutdown',
  async (workers) => {
    await using receiver = await startReceiver();
    await using folder = await createTemporaryFolder();
    const { code, stdout } = await traceOperation(folder.path(), receiver.url, workers);
    expect(code).toBe(0);
    expect(stdout).toContain(`"trace_id":"${TRACE_ID}"`);
    expect(receiver.problems).toEqual([]);

    const server = receiver.spans.find(({ kind }) => kind === 2);
    const client = receiver.spans.find(({ kind }) => kind === 3);
    expect(receiver.spans).toHaveLength(2);
    expect(server).toMatchObject({ name: 'query', traceId: TRACE_ID, parentSpanId: SPAN_ID });
    const name = 'GET /v1/workflows/{workflowIdOrIdentifier}';
    expect(client).toMatchObject({ name, traceId: TRACE_ID, parentSpanId: server?.spanId });
    const nested = [
      server?.startTimeUnixNano,
      client?.startTimeUnixNano,
      client?.endTimeUnixNano,
      server?.endTimeUnixNano,
    ];
    expect(nested).toEqual(nested.toSorted());
    expect(JSON.stringify(receiver.spans)).not.toContain('sandbox-development-key');
  },
);

it('the documented program honors the variables of OpenTelemetry', async () => {
  await using receiver = await startReceiver();
  await using folder = await createTemporaryFolder();
  const env = { OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=pod-1,service.name=other', OTEL_SERVICE_NAME: 'gateway' };
  await traceOperation(folder.path(), receiver.url, 1, env);
  expect(receiver.resource).toMatchObject({
    'service.name': 'gateway',
    'service.version': VERSION,
    'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    'telemetry.sdk.language': 'nodejs',
    'k8s.pod.name': 'pod-1',
  });
  const count = receiver.spans.length;
  await using other = await createTemporaryFolder();
  await traceOperation(other.path(), receiver.url, 1, { OTEL_TRACES_SAMPLER: 'always_off' });
  expect(receiver.spans).toHaveLength(count);
});

it('with a collector that does not answer, the documented program ends within seconds', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const collector = await listen(createServer((_, response) => void released.then(() => response.end())));
  await using folder = await createTemporaryFolder();
  let stoppedAt = Number.POSITIVE_INFINITY;
  const { code, stderr } = await traceOperation(folder.path(), collector.url, 1, {}, () => {
    stoppedAt = performance.now();
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('the last spans') });
  expect(performance.now() - stoppedAt).toBeLessThan(15_000); // A third of that is waited for the collector.
  release();
  await collector.close();
});

it('without a collector, the documented program says so and exits with 0', async () => {
  await using folder = await createTemporaryFolder();
  const { code, stderr } = await traceOperation(folder.path(), 'http://127.0.0.1:9', 1);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('the last spans') });
});
