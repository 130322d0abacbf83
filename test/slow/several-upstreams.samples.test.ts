import { expect, it } from 'vitest';
import { createRandom, echoKeyDigest, runConcurrently } from '../support/concurrent-load.ts';
import { sampleSize } from '../support/samples.ts';
import { NAMES, startThreeUpstreams, type UpstreamRequest } from '../support/three-upstreams.ts';

it('mixed requests of servers and browsers send no key to another upstream', async () => {
  const random = createRandom(7);
  await using trio = await startThreeUpstreams(
    (request, connection) => {
      const dice = random();
      if (dice < 0.03) {
        connection.reset();
      } else if (dice < 0.1) {
        setTimeout(() => connection.answer(echoKeyDigest(request)), 20 * random());
      } else {
        connection.answer(dice < 0.13 ? { status: 503, body: {} } : echoKeyDigest(request));
      }
    },
    {},
    { random: () => 0, breakerMinimumCalls: Number.POSITIVE_INFINITY },
  );
  const bearer = Object.fromEntries(
    await Promise.all(
      ['acme', 'globex', 'initech'].map(async (tenant) => [tenant, await trio.signer.bearer({ tenant })]),
    ),
  );
  const kinds: ((i: number) => [UpstreamRequest, status: number])[] = [
    (i) => [{ host: 'eu.example.test', authorization: `ApiKey eu-${i % 9}` }, 200],
    (i) => [{ host: 'Eu.Example.Test:8443', authorization: `ApiKey eu-${i % 7}` }, 200],
    (i) => [{ path: '/us/graphql', authorization: `ApiKey us-${i % 9}` }, 200],
    (i) => [{ authorization: `ApiKey ap-${i % 9}` }, 200],
    () => [{ authorization: bearer.acme }, 200],
    () => [{ host: 'eu.example.test', authorization: bearer.acme }, 200],
    () => [{ path: '/us/graphql', authorization: bearer.globex }, 200],
    () => [{ authorization: bearer.initech }, 200],
    // Requests that name two upstreams, or one that doesn't exist. Their keys would show up at every upstream.
    () => [{ path: '/us/graphql', authorization: bearer.acme }, 421],
    () => [{ host: 'ap.example.test', authorization: bearer.globex }, 421],
    () => [{ path: '/us/graphql', host: 'eu.example.test', authorization: 'ApiKey none' }, 421],
    () => [{ path: '/mars/graphql', authorization: 'ApiKey none' }, 404],
  ];
  const unexpected: string[] = [];
  await runConcurrently(sampleSize(300, 4_000), 50, async (i) => {
    const [request, expected] = kinds[Math.floor(random() * kinds.length)]?.(i) ?? [];
    const { status, text } = await trio.send(request ?? { authorization: '' });
    if (status !== expected) {
      unexpected.push(`${JSON.stringify(request)} got ${status}: ${text}`);
    }
  });
  expect(trio.misdirected()).toEqual([]);
  expect(unexpected).toEqual([]);
  for (const name of NAMES) {
    expect(trio.upstreams[name].requests.length).toBeGreaterThan(sampleSize(20, 200));
  }
});
