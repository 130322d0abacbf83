import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createGateway } from '../../../src/gateway.ts';
import { fetchFrom, READ_WORKFLOW, respondTo, startCachedGateway } from '../../support/cached-gateway.ts';
import { startService } from '../../support/service.ts';
import { registerTestTraces } from '../../support/traces.ts';

const GET = 'GET /v1/workflows/{workflowIdOrIdentifier}';

it('a trace links to the request that loaded a stored response, and has a span for a refresh in the background', async () => {
  using traces = registerTestTraces();
  await using cached = await startCachedGateway();
  await cached.run(READ_WORKFLOW);
  const [loadingServer, loading] = traces.take();
  expect([loadingServer?.name, loading?.name]).toEqual(['query', GET]);
  await cached.run(READ_WORKFLOW);
  expect(traces.take()).toMatchObject([{ name: 'query', links: [`${loading?.traceId} ${loading?.spanId}`] }]);
  cached.advance(31);
  await cached.run(READ_WORKFLOW);
  await expect.poll(() => traces.raw().length).toBe(2);
  const spans = traces.take();
  const server = spans.find(({ kind }) => kind === 'SERVER');
  const refresh = spans.find(({ kind }) => kind === 'CLIENT');
  expect(server?.links).toEqual([`${loading?.traceId} ${loading?.spanId}`]);
  expect(refresh).toMatchObject({ name: GET, traceId: server?.traceId, parentId: server?.spanId });
});

it('the log of calls says which were answered from the cache, and the age', async () => {
  let time = 0;
  const calls: unknown[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => calls.push(JSON.parse(line).calls) });
  await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v0'));
  await using gateway = createGateway({ upstream: upstream.url, cache: true }, { logger, monotonicNow: () => time });
  await fetchFrom(gateway, READ_WORKFLOW);
  time = 12_345;
  await fetchFrom(gateway, READ_WORKFLOW);
  const call = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };
  expect(calls).toEqual([
    [{ ...call, attempt: 1, httpStatus: 200, ms: expect.any(Number) }],
    [{ ...call, ageMs: 12_345 }],
  ]);
});
