import { pino } from 'pino';
import { expect, it } from 'vitest';
import { processSnapshot } from '../../packages/cli/src/server/process-metrics.ts';
import { startServer } from '../../packages/cli/src/server/server.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { formatMetrics } from '../../src/telemetry/metrics.ts';
import { healthyService } from '../support/healthy-service.ts';
import { type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { hasPrometheus, prometheusOnly, startPrometheus } from './prometheus.ts';
import { readAlerts } from './queries.ts';

const signer = createSigner();

const WORKFLOW = 'query ($id: ID!) { workflow(idOrIdentifier: $id) { name } }';

/** Responds to every request with a status, in the form of the service. */
const failing =
  (status: number, headers: Record<string, string> = {}): Script =>
  () => ({ status, headers, body: { statusCode: status, message: 'No', error: 'No' } });

/** Ways in which the service fails, with the critical alert that each raises. */
const OUTAGES: Readonly<Record<string, readonly [script: Script, alert: string]>> = {
  '401': [failing(401), 'NotigraphUpstreamRejectingMost'],
  'tenant-401': [failing(401), 'NotigraphUpstreamRejectingMost'],
  '403': [failing(403), 'NotigraphUpstreamRejectingMost'],
  '404': [failing(404), 'NotigraphUpstreamRejectingMost'],
  '404-page': [
    () => ({ status: 404, headers: { 'content-type': 'text/html' }, body: '<p>no' }),
    'NotigraphUpstreamFailingMost',
  ],
  '429': [failing(429), 'NotigraphUpstreamRejectingMost'],
  '429-for-long': [failing(429, { 'retry-after': '3600' }), 'NotigraphUpstreamRejectingMost'],
  '500': [failing(500), 'NotigraphUpstreamFailingMost'],
  'invalid-body': [() => ({ body: '{"data":' }), 'NotigraphUpstreamFailingMost'],
  // The circuit breaker opens. Its pauses are longer than the shortened windows, so that operations show it, but not requests.
  '503': [failing(503), 'NotigraphErrorsMost'],
  reset: [(_, connection) => connection.reset(), 'NotigraphErrorsMost'],
  hang: [() => undefined, 'NotigraphErrorsMost'],
};

/** Changes after which the gateway refuses every operation itself, although the service is healthy, with the code of each. */
const REFUSALS: Readonly<Record<string, readonly [change: Partial<Sending>, code: string]>> = {
  'rate-limit-too-small': [
    { options: { clients: { server: { rateLimit: { calls: 1, perSeconds: 60 } } } } },
    'RATE_LIMITED',
  ],
  'manifest-without-the-app': [
    {
      options: {
        clients: { server: { trustedDocuments: 'enforce' } },
        trustedDocuments: { manifests: [{ other: '{ feeds { id } }' }] },
      },
    },
    'DOCUMENT_NOT_TRUSTED',
  ],
  'field-of-a-module': [{ query: 'query ($id: ID!) { layout(id: $id) { id } }' }, 'GRAPHQL_VALIDATION_FAILED'],
  'scope-not-configured': [
    { options: { clients: clientsOf(signer, { scopes: ['groups:read'] }) }, authorization: await signer.bearer() },
    'FORBIDDEN',
  ],
};

/** Operation that is sent to a gateway with these options. */
interface Sending {
  options: Partial<GatewayOptions>;
  authorization: string;
  query: string;
}

/** Starts a gateway with metrics in front of a service. */
async function start(
  script: Script,
  { options = {}, authorization = 'ApiKey a-valid-key', query = WORKFLOW }: Partial<Sending> = {},
) {
  const service = await startService(script);
  const gateway = createGateway(
    // As short as the windows of the alerts, in comparison.
    { upstream: service.url, attemptTimeoutMs: 300, operationTimeoutMs: 1_000, ...options },
    { logger: pino({ level: 'silent' }) },
  );
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    listener: gateway.listener,
    drainTimeoutMs: 100, // All connections are kept alive.
    metrics: (load) => formatMetrics([[...gateway.metricsSnapshot(), ...processSnapshot(load, process)]]),
  });
  return {
    target: new URL(server.url).host,
    async send(id: string) {
      const response = await fetch(server.url + gateway.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query, variables: { id } }),
      });
      return response.text();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await gateway.dispose();
      await service[Symbol.asyncDispose]();
    },
  };
}

it.runIf(hasPrometheus)(
  `25 s in which 20 requests per second fail raise a critical alert, however they fail, also if the gateway refuses them${prometheusOnly}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const tenant = { options: { clients: clientsOf(signer) }, authorization: await signer.bearer() };
    const gateways = new Map<string, Awaited<ReturnType<typeof start>>>();
    const expected: Record<string, string> = {};
    for (const [name, [script, alert]] of Object.entries(OUTAGES)) {
      gateways.set(name, stack.use(await start(script, name === 'tenant-401' ? tenant : {})));
      expected[name] = alert;
    }
    for (const [name, [change]] of Object.entries(REFUSALS)) {
      gateways.set(name, stack.use(await start(healthyService, change)));
      expected[name] = 'NotigraphRefusingMost';
    }
    gateways.set('healthy', stack.use(await start(healthyService)));
    const critical = readAlerts().flatMap(({ alert, labels }) => (labels.severity === 'critical' ? alert : []));
    expect(critical).toEqual(expect.arrayContaining(Object.values(expected)));
    const targets = [...gateways].map(([namespace, { target }]) => ({ targets: [target], labels: { namespace } }));
    const prometheus = stack.use(await startPrometheus(targets, { divisor: 30 }));

    const sending: Promise<string>[] = [];
    const load = setInterval(() => {
      for (const gateway of gateways.values()) {
        sending.push(gateway.send(`w${sending.length}`));
      }
    }, 50);
    stack.defer(() => clearInterval(load));
    const started = performance.now();
    const raised = new Map<string, number>();
    const missing = async () => {
      const open: string[] = [];
      for (const [name, alert] of Object.entries(expected)) {
        if (!raised.has(name) && (await prometheus.firing(name)).includes(alert)) {
          raised.set(name, Math.round((performance.now() - started) / 1_000));
        }
        if (!raised.has(name)) {
          open.push(name);
        }
      }
      return open;
    };
    await expect.poll(missing, { timeout: 25_000, interval: 500 }).toEqual([]);
    console.log(`Seconds until each alert: ${JSON.stringify(Object.fromEntries(raised))}`);
    expect(await prometheus.firing('healthy')).toEqual([]);
    for (const [name, [, code]] of Object.entries(REFUSALS)) {
      expect(await prometheus.codes(name)).toEqual([code]);
    }
    clearInterval(load);
    await Promise.all(sending);
  },
);
