import { expect, it } from 'vitest';
import { startProbedGateway } from '../soak/gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { JSON_TYPE, post } from './attack.ts';
import { growthOf } from './growth.ts';

/** Bound on what callers leave behind. */
const MAX_CALLERS_MB = 16;

it('API keys of 2 KB with a rate limit for each leave little behind', async () => {
  await using upstream = await startScriptedUpstream(() => ({ body: { data: {} } }));
  await using limited = await startProbedGateway(upstream.url, {
    NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000',
    NOTIGRAPH_CONFIG_TEXT: 'audiences: { server: { rateLimit: { calls: 1, perSeconds: 3600 } } }',
  });
  const growth = await growthOf(limited, 20_000, (i) => ({
    ...post('{ notificationGroups { id } }'), // A call: an unused limit is forgotten.
    headers: { ...JSON_TYPE, authorization: `ApiKey ${String(i).padEnd(2_040, 'k')}` },
  }));
  expect(growth).toBeLessThan(MAX_CALLERS_MB);
});
