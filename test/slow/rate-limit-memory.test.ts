import { expect, it } from 'vitest';
import { postWithLongKey, startTarget } from '../support/attack.ts';
import { MAX_CALLERS_MB, measureGrowth } from '../support/growth.ts';
import { startService } from '../support/service.ts';

it("API keys of 2 KB leave little memory allocated, with the gateway's limit and with the service's limit", async () => {
  await using upstream = await startService(() => ({
    status: 429,
    headers: { 'retry-after': '60' },
    body: {},
  }));
  await using limited = await startTarget(upstream.url, {
    NOTIGRAPH_CONFIG_TEXT: 'clients: { server: { rateLimit: { calls: 1, perSeconds: 3600 } } }',
  });
  // Each key makes a call, because unused limits are not stored. Storing the keys unhashed would exceed the bound.
  const growth = await measureGrowth(limited, 20_000, (i) => postWithLongKey('{ notificationGroups { id } }', i));
  expect(growth).toBeLessThan(MAX_CALLERS_MB);
}, 300_000);
