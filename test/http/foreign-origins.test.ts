import { expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/response-head.ts', 'createResponseHeads.corsHeaders');

const APP = 'https://app.example.com';
const BACKEND = 'https://backend.example.com';
const FOREIGN = 'https://other.example.com';

const signer = createSigner();

/** Starts a gateway whose clock the test sets. */
async function start(options: Partial<GatewayOptions> = {}) {
  let time = 0;
  const upstream = 'http://127.0.0.1:9';
  const gateway = ofTest(await startGateway({ upstream, ...options }, { monotonicNow: () => time }));
  return {
    gateway,
    preflight: (origin: string, path = '/graphql') =>
      fetch(new URL(path, gateway.url), { method: 'OPTIONS', headers: { origin } }).then(({ status }) => status),
    send: async (origin: string, authorization: string) =>
      (await gateway.send('{ __typename }', {}, { authorization, headers: { origin } })).status,
    pass: (ms: number) => {
      time += ms;
    },
    warnings: () => gateway.log.flatMap(({ level, msg }) => (level === 40 ? [msg] : [])),
  };
}

const warningOf = (origin: string, setting = 'clients.browser.corsOrigins') =>
  `Origin "${origin}" is not in ${setting}, so browsers block its requests.`;

it('an origin whose preflight is rejected is a warning, once per minute', async () => {
  const { preflight, pass, warnings } = await start({ clients: clientsOf(signer, { corsOrigins: [APP] }) });
  expect(await preflight(APP)).toBe(204);
  expect(warnings()).toEqual([]);
  expect(await preflight(FOREIGN)).toBe(405);
  expect(await preflight(FOREIGN, '/client-tokens')).toBe(405);
  pass(59_999);
  await preflight(FOREIGN);
  expect(warnings()).toEqual([warningOf(FOREIGN)]);
  await preflight('https://another.example.com');
  pass(1);
  await preflight(FOREIGN);
  await preflight('https://another.example.com');
  expect(warnings()).toEqual([FOREIGN, 'https://another.example.com', FOREIGN].map((origin) => warningOf(origin)));
});

it('an origin that is listed only for the other kind of client is a warning that names the setting', async () => {
  const { send, warnings } = await start({
    clients: clientsOf(signer, { corsOrigins: [APP] }, { server: { corsOrigins: [BACKEND] } }),
  });
  expect([await send(APP, await signer.bearer()), await send(BACKEND, 'ApiKey key')]).toEqual([200, 200]);
  expect(warnings()).toEqual([]);
  await send(BACKEND, await signer.bearer());
  await send(APP, 'ApiKey key');
  expect(warnings()).toEqual([warningOf(BACKEND), warningOf(APP, 'clients.server.corsOrigins')]);
});

it('a request of a page that the gateway serves itself is no warning', async () => {
  const { gateway, send, warnings } = await start({ graphiql: true, clients: { server: { corsOrigins: [APP] } } });
  expect(await send(new URL(gateway.url).origin, 'ApiKey key')).toBe(200);
  expect(warnings()).toEqual([]);
});

it('invented origins fill neither the log nor the memory, and are quoted in printable characters', async () => {
  const { preflight, pass, warnings } = await start();
  for (let i = 0; i < 100; i += 1) {
    await preflight(`https://${i}.example`);
  }
  expect(warnings()).toHaveLength(10);
  pass(60_000);
  await preflight(`https://\u009b31m\u00e9"\\\t${'x'.repeat(10_000)}`);
  const [shown, ...others] = warnings().slice(10);
  expect(others).toEqual([]);
  expect(shown).toBe(warningOf(`https://?31m?\\"\\\\?${'x'.repeat(84)}`, 'clients.server.corsOrigins'));
});
