import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createGateway, createGatewayState } from '../../src/gateway.ts';
import { layouts } from '../modules/example.ts';
import { connectClients, runConcurrently } from '../support/concurrent-load.ts';
import { settledBytes } from '../support/heap.ts';
import { ofFile } from '../support/lifetime.ts';
import { startProbedGateway } from '../support/probed-gateway.ts';
import { type NotigraphProcess, startNotigraph } from '../support/process.ts';
import { feed, group } from '../support/records.ts';
import { TENANT_ENV, writeConfig } from '../support/reloads.ts';
import { createFolderOfEachTest } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { createSigner } from '../support/tokens.ts';
import { scrape } from '../support/worker-load.ts';

const GROUPS = '{ notificationGroups { name } }';
const CREATE_FEED = 'mutation { createFeed(input: { name: "News" }) { ... on CreateFeedSuccess { feed { name } } } }';
const RELOADED = '"msg":"changed settings take effect after a restart"'; // The log has only warnings, because it would be long.

const CONNECTIONS = 24;
const signer = createSigner();

/** Working directory of the processes. */
const folder = createFolderOfEachTest();

const upstream = ofFile(
  await startService(async ({ method }) => {
    await sleep(5);
    return method === 'POST' ? { status: 201, body: { data: feed({ name: 'News' }) } } : { body: { data: [group()] } };
  }),
);

/** Writes a configuration that differs from that of other rounds in clients, limits and documents. */
const configure = (round: number, others: Readonly<Record<string, unknown>> = {}) =>
  writeConfig(folder.path('notigraph.config.yaml'), signer, round % 2 === 0 ? ['acme'] : ['acme', 'globex'], {
    upstream: upstream.url,
    logLevel: 'warn',
    reloadSeconds: 0.05,
    maxConnections: 1_000 + round,
    maxConcurrentCallsPerKey: 30 + round,
    attemptTimeoutMs: 30_000, // Only a reload may fail requests, not a busy machine.
    operationTimeoutMs: 60_000,
    trustedDocuments: { manifests: [{ [`document-${round}`]: `{ round${round}: __typename }` }] },
    ...others,
  });

/** Waits until the process has reloaded its configuration this many times. */
const untilReloaded = (notigraph: NotigraphProcess, times: number) =>
  notigraph.printed('stdout', new RegExp(RELOADED), times);

/** Sends operations on many connections until `stop()`, which returns how often each outcome occurred. */
function startLoad(url: string, authorizations: readonly string[]) {
  const clients = connectClients(url, CONNECTIONS);
  let isStopped = false;
  const outcomes: Record<string, number> = {};
  const count = (outcome: string) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const send = async (i: number) => {
    const authorization = authorizations[i % authorizations.length] ?? '';
    const query = i % 4 === 1 && authorization.startsWith('ApiKey') ? CREATE_FEED : GROUPS;
    try {
      const { status, text } = await clients.send({ query, authorization });
      count(status === 200 && /"name":"(?:Group|News)"/.test(text) ? 'data' : `${status} ${text}`);
    } catch (error) {
      count(`cut off: ${error instanceof Error && 'code' in error ? error.code : error}`);
    }
  };
  const running = runConcurrently(Number.POSITIVE_INFINITY, CONNECTIONS, send, () => isStopped);
  return {
    answered: () => outcomes.data ?? 0,
    async stop() {
      isStopped = true;
      await running;
      await clients[Symbol.asyncDispose]();
      return outcomes;
    },
  };
}

it.each([1, 2])(
  'a reload under load fails no request, with %i processes',
  async (workers) => {
    await configure(0);
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--workers', `${workers}`],
      env: TENANT_ENV,
    });
    const load = startLoad(notigraph.url, ['ApiKey key-1', 'ApiKey key-2', await signer.bearer()]);
    for (let round = 1; round <= 10; round += 1) {
      const before = load.answered();
      await configure(round);
      if (round % 2 === 0) {
        process.kill(notigraph.pid, 'SIGHUP');
      }
      await untilReloaded(notigraph, round);
      while (load.answered() < before + 2 * CONNECTIONS) {
        await sleep(10);
      }
    }
    const outcomes = await load.stop();
    expect(Object.keys(outcomes)).toEqual(['data']);
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  },
  300_000,
);

/** Reloads, and the heap that the replaced gateways would take, in MB: 0.8 each. */
const RELOADS = 50;
const REPLACED_MB = 0.8 * RELOADS;

it('releases replaced gateways', async () => {
  await configure(0, { reloadSeconds: 86_400 });
  await using gateway = await startProbedGateway(upstream.url, {
    ...TENANT_ENV,
    NOTIGRAPH_CONFIG: folder.path('notigraph.config.yaml'),
  });
  const metric = 'notigraph_config_reloads_total{result="ok"}';
  const countReloads = async () => (await scrape(gateway.url, /^notigraph_config_reloads_total/))[metric] ?? 0;
  let reloads = 0;
  async function reloadTimes(count: number): Promise<number> {
    for (let i = 0; i < count; i += 1) {
      const load = startLoad(gateway.url, ['ApiKey key']);
      while (load.answered() < CONNECTIONS) {
        await sleep(1);
      }
      process.kill(gateway.pid, 'SIGHUP');
      await load.stop();
      reloads += 1;
      while ((await countReloads()) < reloads) {
        await sleep(1);
      }
    }
    return (await gateway.vitals('collect garbage')).heapMb;
  }
  const before = await reloadTimes(5);
  const after = await reloadTimes(RELOADS);
  expect(after - before).toBeLessThan(REPLACED_MB / 3);
}, 300_000);

it('300 reloads with a module keep less than 5 MB', async () => {
  const logger = pino({ level: 'silent' });
  const state = createGatewayState(logger);
  const options = { upstream: 'http://127.0.0.1:9', modules: [layouts], federation: true };
  const reload = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      const gateway = createGateway(options, { logger, onUndeclaredCall: () => {} }, state);
      await gateway.dispose();
    }
  };
  await reload(20); // What is compiled and cached once.
  const before = await settledBytes();
  await reload(300);
  expect((await settledBytes()) - before).toBeLessThan(5_000_000);
});
