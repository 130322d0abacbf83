import { expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { digestOf, echoKeyDigest } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

// Identical queries of one API key share their REST calls, and nothing else: each has its own execution and response.

const WORKFLOW = 'GET /v1/workflows/w1';
const NAME = 'workflow(idOrIdentifier: "w1") { name }';
const respond = () => ({ body: { data: workflow() } });

/** Requests of two people behind the same API key. */
const requestOf = (user: string) => ({ authorization: 'ApiKey a', headers: { 'x-user': user } });

const readsRequest = defineModule('reads-request', ({ builder, declareCalls, requireScopes }) =>
  builder.queryField('user', (t) =>
    t.string({
      nullable: true,
      extensions: { ...requireScopes('users:read'), ...declareCalls('1') },
      resolve: (_root, _args, { request }) => request.headers.get('x-user'),
    }),
  ),
);

it('have their own responses if a module reads the request, with one REST call', async () => {
  await using gateway = await startGateway({ service: respond, modules: [readsRequest] });
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const query = `{ user ${NAME} }`;
  const anna = gateway.send(query, {}, requestOf('anna'));
  await held.arrived;
  const ben = gateway.send(query, {}, requestOf('ben')); // While the first waits for its REST call.
  await gateway.inFlight(2);
  held.release();
  const data = { workflow: { name: 'Workflow' } };
  expect((await anna).body).toEqual({ data: { user: 'anna', ...data } });
  expect((await ben).body).toEqual({ data: { user: 'ben', ...data } });
  expect(gateway.service.calls()).toEqual([WORKFLOW]);
  expect(gateway.log.filter(({ shared }) => shared)).toMatchObject([{ upstreamCalls: 0, shared: 1 }]);
});

const signer = createSigner();

/** Credential of a caller, and the key of its REST calls. */
type Caller = readonly [authorization: string, key: string];

const browser = async (tenant: keyof typeof TENANT_KEYS, sub: string): Promise<Caller> => [
  await signer.bearer({ tenant, sub }),
  TENANT_KEYS[tenant],
];
const server = async (key: string): Promise<Caller> => [`ApiKey ${key}`, key];

it.each([
  [
    'not between tenants, or between a tenant and a server with another key',
    [browser('acme', 'ada'), browser('globex', 'ada'), server('key-of-a-server')],
  ],
  [
    'between users of a tenant and a server with its key',
    [browser('acme', 'ada'), browser('acme', 'bob'), server(TENANT_KEYS.acme)],
  ],
])('share REST calls %s', async (_, identified) => {
  const callers = await Promise.all(identified);
  await using gateway = await startGateway({ service: echoKeyDigest, clients: clientsOf(signer) });
  const send = (document: string) =>
    Promise.all(callers.map(([authorization]) => gateway.send(document, {}, { authorization })));
  await send('{ __typename }'); // Caches the tokens.
  const keys = [...new Set(callers.map(([, key]) => `ApiKey ${key}`))];
  const held = gateway.service.hold(undefined, Infinity);
  const responses = send(`{ ${NAME} }`);
  await gateway.service.arrived(keys.length);
  await gateway.inFlight(callers.length);
  held.release();
  expect((await responses).map(({ body }) => JSON.stringify(body))).toEqual(
    callers.map(([, key]) => expect.stringContaining(digestOf(`ApiKey ${key}`))),
  );
  expect(gateway.service.requests.map(({ headers }) => headers.authorization).toSorted()).toEqual(keys.toSorted());
});
