import { expect, it } from 'vitest';
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
      resolve: (_root, _args, { request }) => request.headers.get('x-user'),
    }),
  ),
);

it('have their own responses if a module reads the request, with one REST call', async () => {
  await using gateway = await startScriptedGateway(respond, { modules: [readsRequest] });
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const query = `{ user ${NAME} }`;
  const anna = gateway.send(query, {}, requestOf('anna'));
  await held.arrived;
  const ben = gateway.send(query, {}, requestOf('ben')); // While the first waits for its REST call.
  await expect.poll(gateway.running).toBe(2);
  await gateway.send('{ __typename }', {}, requestOf('anna')); // Ben's request was received before.
  held.release();
  const data = { workflow: { name: 'Workflow' } };
  expect((await anna).body).toEqual({ data: { user: 'anna', ...data } });
  expect((await ben).body).toEqual({ data: { user: 'ben', ...data } });
  expect(gateway.service.calls()).toEqual([WORKFLOW]);
  expect(gateway.log.filter(({ shared }) => shared)).toMatchObject([{ upstreamCalls: 0, shared: 1 }]);
});

it('end independently if the resolver of one waits', async () => {
  const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const waitsForAnna = defineModule('waits', ({ builder, requireScopes }) =>
    builder.queryField('waits', (t) =>
      t.boolean({
        nullable: true,
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
