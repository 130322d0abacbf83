import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { metricValues } from '../support/metrics-text.ts';
import { workflow } from '../support/records.ts';
import { type Script, startService } from '../support/service.ts';

const answer: Script = (_, connection) => connection.answer({ body: { data: workflow() } });
const hang: Script = () => {};

/** Names of the upstream, so that lines about the breaker name it. */
const optionsFor = (url: string, options: Partial<GatewayOptions>): GatewayOptions => ({
  upstreams: { main: { url, default: true } },
  maxRetries: 0,
  headersTimeoutMs: 500,
  ...options,
});

const read = (gateway: TestGateway, id: number, key: string) =>
  gateway.send(`{ workflow(idOrIdentifier: "w${id}") { id } }`, {}, { authorization: `ApiKey ${key}` });

const linesOf = ({ log }: TestGateway) => log.filter(({ msg }) => /circuit breaker/.test(String(msg)));

const stateOf = async (gateway: TestGateway) =>
  Object.values(metricValues(await gateway.metrics(), /^notigraph_circuit_breaker_state/))[0];

describe('a service that accepts requests and never answers', () => {
  it('opens the circuit breaker, with one line in the log, and one when it answers again', async () => {
    let time = 0;
    const now = () => new Date(Date.UTC(2030, 0, 1) + time);
    await using upstream = await startService(hang);
    await using gateway = await startGateway(optionsFor(upstream.url, {}), { monotonicNow: () => time, now });
    const failed = await Promise.all(Array.from({ length: 10 }, (_, i) => read(gateway, i, `k${i % 2}`)));
    time += 3_000;
    failed.push(...(await Promise.all(Array.from({ length: 10 }, (_, i) => read(gateway, i, `k${i % 2}`)))));
    expect(new Set(failed.flatMap(({ codes }) => codes))).toEqual(new Set(['UPSTREAM_TIMEOUT']));
    expect(await stateOf(gateway)).toBe(2);
    for (let i = 0; i < 30; i += 1) {
      expect((await read(gateway, i, 'another')).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    }
    expect(upstream.requests).toHaveLength(20);
    const opened = {
      level: 40,
      upstream: 'main',
      code: 'UPSTREAM_TIMEOUT',
      cause: 'UND_ERR_HEADERS_TIMEOUT',
      since: '2030-01-01T00:00:00.000Z',
      msg: 'The circuit breaker opened. Calls to the service are paused.',
    };
    expect(linesOf(gateway)).toEqual([expect.objectContaining(opened)]);
    expect(gateway.log.filter(({ msg }) => /paused/.test(String(msg)))).toHaveLength(1);

    time += 2_000;
    expect((await read(gateway, 0, 'another')).codes).toEqual(['UPSTREAM_TIMEOUT']); // The probe.
    upstream.script = answer;
    time += 4_000;
    expect((await read(gateway, 0, 'another')).codes).toEqual([]);
    expect(await stateOf(gateway)).toBe(0);
    expect(linesOf(gateway).slice(1)).toEqual([
      expect.objectContaining({
        level: 40,
        upstream: 'main',
        since: '2030-01-01T00:00:03.000Z',
        ms: 6_000,
        msg: 'The circuit breaker closed. The service responds again.',
      }),
    ]);
  });

  it('opens it also if the time limit of the attempt is shorter than that of headers', async () => {
    await using upstream = await startService(hang);
    await using gateway = await startGateway(
      optionsFor(upstream.url, { attemptTimeoutMs: 1_000, headersTimeoutMs: 5_000, breakerMinimumCalls: 2 }),
    );
    await Promise.all([read(gateway, 0, 'a'), read(gateway, 1, 'b')]);
    expect(await stateOf(gateway)).toBe(2);
  });

  it('does not open it for a request that waited for a connection most of the time', async () => {
    await using upstream = await startService((request, connection) => {
      upstream.script = hang;
      setTimeout(() => answer(request, connection), 1_400);
    });
    await using gateway = await startGateway(
      optionsFor(upstream.url, {
        sockets: 1,
        attemptTimeoutMs: 2_000,
        headersTimeoutMs: 5_000,
        breakerMinimumCalls: 1,
      }),
    );
    const [first, second] = await Promise.all([read(gateway, 0, 'a'), read(gateway, 1, 'b')]);
    expect([first.codes, second.codes]).toEqual([[], ['UPSTREAM_TIMEOUT']]);
    expect(upstream.requests).toHaveLength(2);
    expect(await stateOf(gateway)).toBe(0);
  });

  it('does not open it because of the time limit of operations, or clients that leave', async () => {
    await using upstream = await startService(hang);
    await using gateway = await startGateway(
      optionsFor(upstream.url, { operationTimeoutMs: 500, headersTimeoutMs: 5_000, breakerMinimumCalls: 1 }),
    );
    expect((await read(gateway, 0, 'a')).codes).toEqual(['UPSTREAM_TIMEOUT']);
    expect(await stateOf(gateway)).toBe(0);

    await using patient = await startGateway(
      optionsFor(upstream.url, { headersTimeoutMs: 5_000, breakerMinimumCalls: 1 }),
    );
    const client = new AbortController();
    const request = { authorization: 'ApiKey a', signal: client.signal };
    const left = patient.send('{ workflow(idOrIdentifier: "w") { id } }', {}, request);
    await upstream.arrived(2);
    client.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => patient.log.filter(({ httpStatus }) => httpStatus === 499)).toHaveLength(1);
    expect(await stateOf(patient)).toBe(0);
  });
});

it('requests that only one API key makes slow pause only the calls with this key', async () => {
  await using upstream = await startService((request, connection) => {
    if (request.headers.authorization !== 'ApiKey slow') {
      answer(request, connection);
    }
  });
  await using gateway = await startGateway(optionsFor(upstream.url, {}));
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => read(gateway, 10 * round + i, 'slow')));
    expect((await read(gateway, round, 'other')).codes).toEqual([]);
  }
  expect((await read(gateway, 0, 'slow')).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect((await read(gateway, 0, 'other')).codes).toEqual([]);
  const [line, ...more] = linesOf(gateway);
  expect(more).toEqual([]);
  expect(line).toMatchObject({ tenant: expect.stringMatching(/^[0-9a-f]{8}$/), cause: 'UND_ERR_HEADERS_TIMEOUT' });
});
