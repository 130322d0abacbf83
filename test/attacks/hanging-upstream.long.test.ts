import { expect, it } from 'vitest';
import { runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { group } from '../support/records.ts';
import { startService } from '../support/service.ts';

/** Requests of the attacker in flight, more than the gateway takes in total. */
const ATTACKS = 150;

/** A fifth of the defaults, so that few requests exceed them. */
const LIMITS = { maxInFlightRequests: 100 };

const READ = '{ notificationGroups { name } }';

it.concurrent.each<[string, limit: 'caller' | 'unknown keys', (i: number) => [key: string, query: string]]>([
  ['identical reads with one key', 'caller', () => ['k', READ]],
  [
    'different reads with many keys',
    'unknown keys',
    (i) => [`k${i % 50}`, `{ workflow(idOrIdentifier: "w${i}") { name } }`],
  ],
])('an upstream that hangs takes no requests to another one, with %s', async (_, limitOf, attackOf) => {
  await using hanging = await startService(() => {});
  await using healthy = await startService((_request, { answer }) => answer({ body: { data: [group()] } }));
  const upstreams = {
    hanging: { url: hanging.url, pathPrefix: '/hanging' },
    healthy: { url: healthy.url, default: true },
  };
  await using gateway = await startGateway({ upstreams }, { server: LIMITS });
  const attackers = new AbortController();
  const attack = (i: number) => {
    const [key, query] = attackOf(i);
    const request = { path: '/hanging/graphql', authorization: `ApiKey ${key}`, signal: attackers.signal };
    return gateway.send(query, {}, request);
  };
  const attacks = Array.from({ length: ATTACKS }, (_, i) => attack(i).catch(() => {})); // Most are aborted at the end.
  await hanging.arrived(1);

  const outcomes = new Set<unknown>();
  await runConcurrently(100, 8, async (i) => {
    const { status, codes } = await gateway.send(READ, {}, { authorization: `ApiKey victim-${i % 3}` });
    outcomes.add(`${status} ${codes}`);
  });
  expect([...outcomes]).toEqual(['200 ']);
  attackers.abort();
  await Promise.all(attacks);

  // One line when the limit is reached and one when it is over, however many requests were rejected.
  const lines = () => gateway.log.filter(({ msg }) => /in flight/.test(String(msg)));
  await expect.poll(lines, { timeout: 20_000 }).toHaveLength(2);
  for (const [i, line] of lines().entries()) {
    expect(line).toMatchObject({
      level: 40,
      limitOf,
      upstream: 'hanging',
      [i === 0 ? 'limit' : 'requests']: expect.any(Number),
    });
  }
});
