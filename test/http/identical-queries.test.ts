import { expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { defineModule } from '../../src/modules/index.ts';
import { startScriptedGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';

// Identical queries of one API key share their REST calls, and nothing else: each has its own execution, response and end.

const WORKFLOW = 'GET /v1/workflows/w1';
const NAME = 'workflow(idOrIdentifier: "w1") { name }';
const respond = () => ({ body: { data: workflow() } });

/** Requests of two people behind the same API key. */
const requestOf = (user: string) => ({ authorization: 'ApiKey a', headers: { 'x-user': user } });

const readsRequest = defineModule('reads-request', ({ builder, requireScopes }) =>
  builder.queryField('user', (t) =>
    t.string({
      nullable: true,
      extensions: requireScopes('users:read'),
      description: 'Returns the user that the request names.',
      resolve: (_root, _args, { request }) => request.headers.get('x-user'),
    }),
  ),
);

const addsUser: NonNullable<GatewayOptions['plugins']>[number] = {
  onExecute: ({ args }) => ({
    onExecuteDone: ({ result, setResult }) =>
      setResult({ ...result, extensions: { user: args.contextValue.request.headers.get('x-user') } }),
  }),
};

/** Sends a query for two people, the second while the first waits for its REST call. */
async function sendBoth(query: string, options: Partial<GatewayOptions>) {
  await using gateway = await startScriptedGateway(respond, options);
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const anna = gateway.send(query, {}, requestOf('anna'));
  await held.arrived;
  const ben = gateway.send(query, {}, requestOf('ben'));
  await expect.poll(gateway.running).toBe(2);
  await gateway.send('{ __typename }', {}, requestOf('anna')); // Ben's request was received before.
  held.release();
  const bodies = [(await anna).body, (await ben).body];
  return { bodies, calls: gateway.service.calls(), log: gateway.log.filter(({ shared }) => shared) };
}

it('have their own responses if a module reads the request, with one REST call', async () => {
  const { bodies, calls, log } = await sendBoth(`{ user ${NAME} }`, { modules: [readsRequest] });
  const data = { workflow: { name: 'Workflow' } };
  expect(bodies).toEqual([{ data: { user: 'anna', ...data } }, { data: { user: 'ben', ...data } }]);
  expect(calls).toEqual([WORKFLOW]);
  expect(log).toMatchObject([{ upstreamCalls: 0, shared: 1 }]);
});

it('have their own responses if a plugin of the host reads the request, with one REST call', async () => {
  const { bodies, calls } = await sendBoth(`{ ${NAME} }`, { plugins: [addsUser] });
  expect(bodies.map(({ extensions }) => extensions)).toEqual([{ user: 'anna' }, { user: 'ben' }]);
  expect(calls).toEqual([WORKFLOW]);
});

it('end independently if the resolver of one waits', async () => {
  const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const waitsForAnna = defineModule('waits', ({ builder, requireScopes }) =>
    builder.queryField('waits', (t) =>
      t.boolean({
        nullable: true,
        description: 'Returns whether it waited, which it does for Anna.',
        extensions: requireScopes('users:read'),
        resolve(_root, _args, { request }) {
          if (request.headers.get('x-user') !== 'anna') {
            return false;
          }
          started.resolve();
          return ended.promise;
        },
      }),
    ),
  );
  await using gateway = await startScriptedGateway(respond, { modules: [waitsForAnna] });
  const anna = gateway.send('{ waits }', {}, requestOf('anna'));
  await started.promise;
  expect((await gateway.send('{ waits }', {}, requestOf('ben'))).body).toEqual({ data: { waits: false } });
  ended.resolve(true);
  expect((await anna).body).toEqual({ data: { waits: true } });
});
