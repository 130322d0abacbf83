import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { startServer } from '../../src/server/server.ts';
import { formatMetrics } from '../../src/telemetry/metrics.ts';
import { processSnapshot } from '../../src/telemetry/process-metrics.ts';
import { healthyService } from '../support/healthy-service.ts';
import { type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { hasPrometheus, prometheusOnly, startPrometheus } from './prometheus.ts';

const WORKFLOW = 'query ($id: ID!) { workflow(idOrIdentifier: $id) { name } }';

/** Responds to every request with a status, in the form of the service. */
const failing =
  (status: number, headers: Record<string, string> = {}): Script =>
  () => ({ status, headers, body: { statusCode: status, message: 'No', error: 'No' } });

/** Ways in which the service fails, with the critical alert that each raises. */
const OUTAGES: Readonly<Record<string, readonly [script: Script, alert: string]>> = {
  '401': [failing(401), 'NotigraphUpstreamRejectingMost'],
  'tenant-401': [failing(401), 'NotigraphTenantKeyRejected'],
  '403': [failing(403), 'NotigraphUpstreamRejectingMost'],
  '404': [failing(404), 'NotigraphUpstreamRejectingMost'],
  '404-page': [() => ({ status: 404, headers: { 'content-type': 'text/html' }, body: '<p>no' }), 'NotigraphErrors'],
  '429': [failing(429), 'NotigraphUpstreamRejectingMost'],
  '429-for-long': [failing(429, { 'retry-after': '3600' }), 'NotigraphUpstreamRejectingMost'],
  '500': [failing(500), 'NotigraphErrors'],
  '503': [failing(503), 'NotigraphErrors'],
  reset: [(_, connection) => connection.reset(), 'NotigraphErrors'],
  hang: [() => undefined, 'NotigraphErrors'],
  'invalid-body': [() => ({ body: '{"data":' }), 'NotigraphErrors'],
};

/** Starts a gateway with metrics in front of a service. */
async function start(script: Script, authorization: string, options: Partial<GatewayOptions>) {
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
    metrics: (load) => formatMetrics([[...gateway.metricsSnapshot(), ...processSnapshot(load, process)]]),
  });
  return {
    target: new URL(server.url).host,
    async send(id: string) {
      const response = await fetch(server.url + gateway.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query: WORKFLOW, variables: { id } }),
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
  `25 s in which 20 requests per second fail raise a critical alert, however they fail${prometheusOnly}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const signer = createSigner();
    const token = await signer.bearer();
    const cases = [...Object.entries(OUTAGES), ['healthy', [healthyService, '']] as const];
    const gateways = new Map<string, Awaited<ReturnType<typeof start>>>();
    for (const [name, [script]] of cases) {
      const isTenant = name === 'tenant-401';
      const options = isTenant ? { clients: clientsOf(signer) } : {};
      gateways.set(name, stack.use(await start(script, isTenant ? token : 'ApiKey a-valid-key', options)));
    }
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
      for (const [name, [, alert]] of Object.entries(OUTAGES)) {
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
    clearInterval(load);
    await Promise.all(sending);
  },
);
