import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { measure, measureCheapest, parseMs, postWithKey, startTarget } from '../support/attack.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';

/** Maximum CPU time of a document that is in no manifest and is looked up, in milliseconds, besides parsing its request. */
const BASE_CPU_MS = 20;

it('documents that are in no manifest cost little and do not fill the log beyond its limit', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('manifest.json'), JSON.stringify({ listed: '{ __typename }' }));
  await using upstream = await startService(() => ({ body: { data: [] } }));
  await using gateway = await startTarget(upstream.url, {
    NOTIGRAPH_CONFIG_TEXT: JSON.stringify({
      clients: { server: { trustedDocuments: 'log' } },
      trustedDocuments: { manifests: [folder.path('manifest.json')] },
    }),
  });
  // Long documents with text that resembles operation names.
  const attackOf = (run: number) => postWithKey(`{ a${run} } # ${'query '.repeat(20_000)}${' '.repeat(120_000)}`);
  const limitMs = BASE_CPU_MS + 5 * parseMs(attackOf(0).body ?? '');
  const { cpuMs } = await measureCheapest(gateway, attackOf, { isEnough: (cost) => cost.cpuMs < limitMs });
  expect(cpuMs).toBeLessThan(limitMs);

  const attacks = Array.from({ length: 300 }, (_, i) => postWithKey(`query q${i} { notificationGroups { name } }`));
  await measure(gateway, attacks);
  expect(await gateway.stop()).toBe(0); // All of them are in the log by now.
  expect(gateway.logLines.get('warn')).toBeGreaterThanOrEqual(100);
  expect(gateway.logLines.get('warn')).toBeLessThanOrEqual(200); // If another minute has begun.
});
