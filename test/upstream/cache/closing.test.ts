import { expect, it } from 'vitest';
import { parseOptions } from '../../../src/settings/parse.ts';
import { CachedService } from '../../../src/upstream/cache/cached-service.ts';
import { MemoryStore } from '../../../src/upstream/cache/memory-store.ts';
import { windowsOf } from '../../../src/upstream/cache/windows.ts';
import { OperationClient } from '../../../src/upstream/client.ts';
import { Abort } from '../../../src/upstream/signal.ts';
import { workflow } from '../../support/records.ts';
import { settingsOf } from '../../support/settings.ts';
import { RecordedEvents, startClient } from '../../support/upstream-client.ts';

it('answers a read from the store if the gateway is closed during a refresh', async () => {
  let passedMs = 0;
  await using client = await startClient((_, { answer }) => answer({ body: { data: workflow({ name: 'stored' }) } }));
  const settings = settingsOf(client.upstream.url);
  const { cache } = parseOptions({ upstream: client.upstream.url, cache: true });
  if (cache === false) {
    throw new Error('There is no cache.');
  }
  const closing = new Abort();
  const store = new MemoryStore({ maxBytes: 1e6, now: () => performance.now() + passedMs });
  const { service, upstream } = client;
  const target = new CachedService({
    service,
    store,
    settings: cache,
    address: 'u',
    attemptTimeoutMs: 60_000,
    closing,
  });
  const read = (events: RecordedEvents) =>
    new OperationClient(settings, target, {
      authorization: 'ApiKey a',
      signal: new Abort(),
      deadlineAt: performance.now() + 60_000,
      requestId: 'r',
      events,
    }).read({
      route: '/v1/workflows/{workflowIdOrIdentifier}',
      params: { workflowIdOrIdentifier: 'w1' },
      expect: 'record',
    });
  await read(new RecordedEvents());
  passedMs = (windowsOf(cache, 'workflows')?.errorMs ?? 0) - 1_000;
  upstream.script = () => {};
  const events = new RecordedEvents();
  const stale = read(events);
  await upstream.arrived(2);
  closing.abort();
  expect(await stale).toMatchObject({ name: 'stored' });
  expect(events.all).toContain('answered from cache');
});
