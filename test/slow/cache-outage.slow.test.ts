import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { group, workflow } from '../support/records.ts';
import { type Script, startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

/** Longest time that a read may take. It waits a second for the service, and on a busy machine for the processor. */
const MAX_MS = 5_000;

/** Longer than the circuit breaker stays open. */
const OUTAGE_SECONDS = 15;

/** Number of workflows that are read at once: more than can be requested or wait to be requested. */
const WORKFLOWS = 20;
const LIMITS = { maxConcurrentCallsPerKey: 4 };

/** Time after which every read of the outage needs the service or a stale response, in seconds. */
const WINDOWS_SECONDS = 65;

const serve: Script = ({ path }, { answer }) =>
  answer({
    body: {
      data: path.endsWith('groups') ? [group()] : workflow({ _id: path.split('/').at(-1) ?? '', name: 'Stored' }),
    },
  });

/** Ways to be down. */
const OUTAGES = {
  'refuses connections': undefined,
  'does not respond': () => {},
  'responds with 503': (_, { answer }) => answer({ status: 503, body: {} }),
} satisfies Record<string, Script | undefined>;

const DOCUMENTS = [
  ...Array.from({ length: WORKFLOWS }, (_, i) => `{ workflow(idOrIdentifier: "w${i}") { name } }`),
  '{ notificationGroups { name } }',
];

describe.concurrent.each(STORES)('with a cache in %s', (kind) => {
  it.for(Object.entries(OUTAGES))('every read is answered while the service %s', async ([, outage], { expect }) => {
    await using cache = await startTestCache(kind);
    await using upstream = await startService(serve);
    await using gateway = await startGateway({ upstream: upstream.url, cache: cache.settings, ...LIMITS }, cache.deps);
    async function read(document: string) {
      const startedAt = performance.now();
      const { body } = await gateway.send(document);
      const { cache: note } = (body.extensions ?? {}) as { cache?: { stale?: boolean; ageSeconds?: number } };
      return { body, note, ms: performance.now() - startedAt };
    }
    const readAll = () => Promise.all(DOCUMENTS.map(read));
    const countStale = (answers: Awaited<ReturnType<typeof readAll>>) =>
      answers.filter(({ note }) => note?.stale === true && (note.ageSeconds ?? 0) >= WINDOWS_SECONDS).length;

    await runConcurrently(DOCUMENTS.length, 4, (i) => read(DOCUMENTS[i] ?? ''));
    await cache.pass(WINDOWS_SECONDS);
    await (outage === undefined ? upstream.refuse() : undefined);
    upstream.script = outage ?? serve;
    const slowest: number[] = [];
    for (const end = performance.now() + OUTAGE_SECONDS * 1_000; performance.now() < end; ) {
      const answers = await readAll();
      expect(answers.filter(({ body }) => body.errors !== undefined).map(({ body }) => body)).toEqual([]);
      expect(countStale(answers)).toBe(DOCUMENTS.length);
      slowest.push(Math.max(...answers.map(({ ms }) => ms)));
      await sleep(1_000);
    }
    expect(Math.max(...slowest)).toBeLessThan(MAX_MS);

    upstream.script = serve;
    await (outage === undefined ? upstream.listen() : undefined);
    await expect.poll(async () => countStale(await readAll()), { timeout: 60_000, interval: 200 }).toBe(0);
  });
});
