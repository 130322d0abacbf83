import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { hasPrometheus, prometheusOnly, startPrometheus } from './prometheus.ts';
import { listedLabels, listQueries } from './queries.ts';

/**
 * Queries without a result: nothing in the schema is deprecated, all gateways are up and have no bug, and no tenant's key is rejected, and
 * no write requires the audit log.
 */
const EMPTY = [
  'Use of deprecated fields A',
  'NotigraphDown',
  'NotigraphTenantKeyRejected',
  'NotigraphBug',
  'NotigraphCertificateExpires',
  'NotigraphAuditUnavailable',
];

/** Configuration with a rate limit that is soon used up, an issuer that is down, a cache, and an audit log. */
const CONFIG = `
sandbox: ':memory:'
cache: on
audit: { to: { file: audit.jsonl } }
clients:
  server: { rateLimit: { calls: 60, perSeconds: 60 } }
  browser:
    issuers: [{ issuer: 'https://login.example.com', audience: notifications, jwks: 'http://127.0.0.1:9/jwks.json' }]
    scopes: [workflows:read]
    tenants: { acme: { env: ACME_KEY } }
`;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const TOKEN = `${encode({ alg: 'RS256', kid: '1' })}.${encode({ iss: 'https://login.example.com' })}.c2ln`;

/** Operations of every kind of outcome that is counted, with their credentials. */
const LOAD: readonly (readonly [authorization: string, query: string])[] = [
  [`ApiKey ${SANDBOX_KEYS.development}`, '{ notificationGroups { name } }'],
  [`ApiKey ${SANDBOX_KEYS.development}`, '{ workflow(idOrIdentifier: "unknown") { name } }'],
  [`ApiKey ${SANDBOX_KEYS.development}`, 'mutation { createFeed(input: { name: "Activity" }) { __typename } }'], // It exists.
  [`ApiKey ${SANDBOX_KEYS.development}`, '{ unknown }'],
  ['ApiKey wrong', '{ notificationGroups { name } }'],
  ['nothing', '{ notificationGroups { name } }'],
  [`Bearer ${TOKEN}`, '{ notificationGroups { name } }'],
];

/** Configuration with workers and a Redis that is down. */
const CLUSTER = `
workers: 2
clients: { server: { rateLimit: { calls: 100000 } } }
rateLimits: { store: { redis: { url: 'redis://127.0.0.1:9' } } }
cache: { store: { redis: { url: 'redis://127.0.0.1:9' } }, secret: { env: CACHE_SECRET } }
`;

/** Configuration with a cache whose entries are stale after half a minute. */
const CACHE = 'cache: { freshSeconds: 1 }';

/**
 * Starts a service whose list of groups deviates from the contract, and which fails otherwise.
 *
 * @param lists number of lists that it returns before they fail too
 */
function startBrokenService(lists: number) {
  let left = lists;
  return startService(({ path, headers }) =>
    path === '/v1/notification-groups' && (headers.authorization === undefined || left-- > 0)
      ? { body: { data: [{ _id: '1', name: 'Billing', unexpected: true }] } }
      : { status: 503, body: {} },
  );
}

it.runIf(hasPrometheus)(
  `Prometheus evaluates every query of the dashboard and of the alerts on a gateway under load${prometheusOnly}`,
  async () => {
    await using folder = await createTemporaryFolder();
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      env: { NOTIGRAPH_CONFIG_TEXT: CONFIG, ACME_KEY: 'an-obvious-test-key' },
    });
    await using service = await startBrokenService(Number.POSITIVE_INFINITY);
    await using dying = await startBrokenService(10);
    await using failing = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', service.url],
      env: { NOTIGRAPH_CONFIG_TEXT: CLUSTER, CACHE_SECRET: 'an-obvious-test-secret-of-32-characters' },
    });
    await using stale = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', dying.url],
      env: { NOTIGRAPH_CONFIG_TEXT: CACHE },
    });
    const gateways = [notigraph, failing, stale];
    await using prometheus = await startPrometheus(gateways.map(({ url }) => ({ targets: [new URL(url).host] })));

    const send = (url: string, authorization: string, query: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query }),
      }).then((response) => response.text());
    const sendAll = () => Promise.all(gateways.flatMap(({ url }) => LOAD.map((operation) => send(url, ...operation))));
    const scrapes = async () => {
      await sendAll();
      const [count = 0] = await prometheus.query(
        'count_over_time(notigraph_operations_total{code="RATE_LIMITED"}[1m])',
      );
      return count;
    };
    await expect.poll(scrapes, { timeout: 60_000 }).toBeGreaterThan(3);

    /** Returns the queries without a result. Rates need several scrapes of a counter that grows. */
    const findEmpty = async () => {
      await sendAll();
      const empty: string[] = [];
      for (const { name, query } of listQueries()) {
        // Without the thresholds, which a healthy gateway doesn't reach.
        const values = await prometheus.query(query.replaceAll(/ (?:==|>) [\d.]+$/gm, ''));
        if (values.length === 0 || values.every(Number.isNaN)) {
          empty.push(name);
        }
      }
      return empty;
    };
    await expect.poll(findEmpty, { timeout: 60_000, interval: 500 }).toEqual(EMPTY);

    const texts = await Promise.all(
      gateways.map(({ url }) => fetch(new URL('/metrics', url)).then((each) => each.text())),
    );
    const exposed = [...texts.join('\n').matchAll(/^(notigraph_\w+)\{(.*)\} /gm)].map(
      ([, metric = '', labels = '']) => ({
        metric,
        labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      }),
    );
    expect(new Set(exposed.map(({ metric }) => metric)).size).toBeGreaterThan(20);
    for (const { metric, labels } of exposed) {
      expect([metric, labels.toSorted()]).toEqual([
        metric,
        listedLabels(metric)
          ?.filter((label) => label !== 'upstream')
          .toSorted(), // None of the gateways has several.
      ]);
    }

    await expect.poll(() => prometheus.ruleHealth()).toEqual(new Set(['ok']));
  },
);
