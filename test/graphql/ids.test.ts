import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { bulkOf } from '../modules/example.ts';
import { IDS_WITH_SLASHES, REFUSED_IDS } from '../support/field-contract.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/graphql/values.ts', 'loadBySentId');
guards('src/upstream/input-rules.ts', 'assertPathIds');
guards('src/upstream/input-rules.ts', 'findIdProblem');

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({
    service: ({ path }) => ({
      body: { data: path.includes('/workflows/') ? workflow() : group() },
    }),
  });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.service.forget());

/** Operations that put an id into a path, with the parts of the path before and after it. */
const USES = [
  { document: 'query ($id: ID!) { workflows(idsOrIdentifiers: [$id]) { id } }', before: '/v1/workflows/', after: '' },
  { document: 'query ($id: ID!) { notificationGroup(id: $id) { id } }', before: '/v1/notification-groups/', after: '' },
  {
    document: 'mutation ($id: ID!) { updateWorkflowStatus(input: { workflowId: $id, active: true }) { __typename } }',
    before: '/v1/workflows/',
    after: '/status',
  },
];

/** Ids that no path can have. That every field rejects them is tested in `test/modules/contract.test.ts`. */
const REFUSED = Object.entries({ ...REFUSED_IDS, ...IDS_WITH_SLASHES });

it.each(REFUSED)('%s is rejected in a list of ids before any upstream call', async (_, id) => {
  const { body, codes } = await gateway.send('query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id } }', {
    ids: [id],
  });
  expect([body.data, codes]).toEqual([{ workflows: [null] }, ['BAD_USER_INPUT']]);
  expect(gateway.service.requests).toEqual([]);
});

it('an invalid id is rejected even if one list request would serve all ids', async () => {
  const { body } = await gateway.send(
    '{ a: notificationGroup(id: "g1") { id } b: notificationGroup(id: "..") { id } }',
  );
  expect(body.data).toMatchObject({ a: { id: 'g1' }, b: null });
  expect(body.errors).toMatchObject([{ path: ['b'], extensions: { code: 'BAD_USER_INPUT' } }]);
});

it.each(REFUSED.filter((_, i) => i % 4 === 0))(
  '%s that the service sent is its mistake, and fails only the record with that id',
  async (_, id) => {
    await using other = await startGateway({
      service: ({ path }) => ({
        body: path.includes('/stats')
          ? [{ _id: '2026-01-02', count: 1, templates: [id, 'w1'], channels: [] }]
          : { data: workflow({ _notificationGroupId: id }) },
      }),
    });
    const { body } = await other.send('{ notificationStats { workflows { name notificationGroup { id } } } }');
    expect(body.data).toEqual({
      notificationStats: [{ workflows: [null, { name: 'Workflow', notificationGroup: null }] }],
    });
    const extensions = { code: 'UPSTREAM_BAD_RESPONSE', retryable: false };
    expect(body.errors).toMatchObject([
      {
        path: ['notificationStats', 0, 'workflows', 0],
        message: 'The notification service sent an invalid id.',
        extensions,
      },
      { path: ['notificationStats', 0, 'workflows', 1, 'notificationGroup'], extensions },
    ]);
    expect(other.service.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      '/v1/notifications/graph/stats',
      '/v1/workflows/w1',
    ]);
  },
);

it.each(['a.b', '...', 'a:b', 'auth0|1', 'ann@example.com', 'x?y=1#f', '100%', 'a%41', '\u{1f600}'])(
  'the id %j is sent as one encoded segment',
  async (id) => {
    for (const { document, before, after } of USES) {
      gateway.service.forget();
      await gateway.send(document, { id });
      expect(gateway.service.requests.map(({ path }) => path)).toEqual([before + encodeURIComponent(id) + after]);
    }
  },
);

it('any id is either rejected or arrives unchanged as one segment', async () => {
  const anyId = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'E', 'f', '?', '#', 'a', '\n'), maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(anyId, fc.constantFrom(...USES), async (id, use) => {
      gateway.service.forget();
      const { status } = await gateway.send(use.document, { id });
      expect(status).toBe(200);
      const [sent] = gateway.service.requests;
      if (sent === undefined) {
        return; // Rejected.
      }
      const { path } = sent;
      const segment = path.slice(use.before.length, path.length - use.after.length);
      expect(decodeURIComponent(segment)).toBe(id);
      expect(segment).not.toMatch(/[/?#\\\s]|^\.{0,2}$/);
      const read = new URL(path, 'http://localhost').pathname;
      expect(read).toBe(path); // Parsing the URL changes no segment.
      expect(decode(segment)).not.toMatch(/[/\\]/); // Nor does a proxy that decodes it, however often.
    }),
    { numRuns: 120 },
  );
});

const FAILURE = '__typename ... on InvalidInputError { issues { path message } }';

/** Decodes a text until nothing is left to decode. */
function decode(text: string): string {
  const decoded = text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return decoded === text ? text : decode(decoded);
}

it.each([
  ['deleteSubscriber(input: { subscriberId: $id })', 'user-2/credentials/fcm', 'subscriberId'],
  ['deleteSubscriber(input: { subscriberId: $id })', 'user-2%2Fcredentials%2Ffcm', 'subscriberId'],
  ['updateSubscriber(input: { subscriberId: $id, locale: "en" })', 'user-2\\credentials', 'subscriberId'],
  ['deleteMessage(input: { id: $id })', 'transaction/t1', 'id'],
  ['deleteTopic(input: { key: $id })', 'news/subscribers', 'key'],
  ['cancelTriggeredEvent(input: { transactionId: $id })', 'bulk/t1', 'transactionId'],
  ['markAllMessages(input: { subscriberId: $id, as: READ })', 'user-2/x', 'subscriberId'],
])('%s with %s, which is another endpoint to a proxy that decodes paths, is not sent', async (field, id, name) => {
  await using other = await startGateway({
    service: 'healthy',
    modules: [events, inbox, messages, subscribers, topics],
  });
  const { data, errors } = (await other.send(`mutation ($id: ID!) { result: ${field} { ${FAILURE} } }`, { id })).body;
  expect([data, errors]).toEqual([
    {
      result: {
        __typename: 'InvalidInputError',
        issues: [{ path: ['input', name], message: `The id must not contain "/" or "\\", plain or encoded.` }],
      },
    },
    undefined,
  ]);
  expect(other.service.requests).toEqual([]);
});

it('an endpoint of a module permits slashes in its ids, but no dot segments, for reads, mutations, records and people', async () => {
  const files = defineModule('files', (toolkit) => {
    const { builder, bulkMutation, declareCalls, endpoint, entity, loader, loadBySentId, mutation, requireScopes } =
      toolkit;
    const get = endpoint('GET /v1/files/{path}', { slashesInIds: true }).returns<{ path: string; parent: string }>();
    const write = endpoint('PUT /v1/files/{path}', { slashesInIds: true, expect: 'nothing' });
    const shares = endpoint('GET /v1/people/{person}/shares', { slashesInIds: true, expect: 'value' });
    const file = loader({ name: 'file', get });
    const File = builder.objectRef<{ path: string; parent: string }>('File').implement({
      extensions: {
        ...requireScopes('files:read'),
        ...entity({ path: (path, { loaders }) => loaders.load(file, path) }),
      },
      fields: (t) => ({ path: t.exposeID('path') }),
    });
    builder.objectField(File, 'parent', (t) =>
      t.field({
        type: File,
        nullable: true,
        extensions: declareCalls('1', { loader: file, reason: 'One per file.' }),
        resolve: ({ parent }, _args, { loaders }) => loadBySentId(parent, (path) => loaders.load(file, path), get),
      }),
    );
    builder.queryFields((t) => ({
      file: t.field({
        type: File,
        nullable: true,
        args: { path: t.arg.id({ required: true }) },
        extensions: declareCalls('1'),
        resolve: (_root, { path }, { loaders }) => loaders.load(file, path),
      }),
      shares: t.field({
        type: 'JSON',
        nullable: true,
        extensions: { ...requireScopes('files:read'), ...declareCalls('1') },
        resolve: (_root, _args, ctx) =>
          ctx.upstream.read(shares, { person: toolkit.subjectOf(ctx, undefined, 'person', shares) }),
      }),
    }));
    const writing = mutation('writeFile', {
      description: 'Writes a file.',
      scope: 'files:write',
      endpoint: write,
      input: { description: 'It.', fields: (t) => ({ path: t.id({ required: true }) }) },
      resolve: async ({ path }, send) => ({ path: await send({ path }) }),
      success: { description: 'It is written.', fields: (t) => ({ done: t.boolean({ resolve: () => true }) }) },
    });
    bulkMutation('writeFiles', writing, bulkOf('files', 10));
  });
  const signer = createSigner();
  await using other = await startGateway({
    service: ({ method, path }) =>
      method === 'GET' ? { body: { data: { path, parent: 'a/b\\parent' } } } : { status: 204 },
    modules: [files],
    clients: clientsOf(signer, { scopes: ['files:read'] }),
  });
  const run = async (document: string, id: string) => (await other.send(document, { id })).codes;
  const READ = 'query ($id: ID!) { file(path: $id) { parent { path } } }';
  const WRITE =
    'mutation ($id: ID!) { writeFile(input: { path: $id }) { __typename } writeFiles(input: { files: [{ path: $id }] }) { failed } }';
  const [id, encoded] = ['a/b\\c', 'a%2Fb%5Cc'];
  expect([await run(READ, id), await run(WRITE, id)]).toEqual([[], []]);
  const authorization = await signer.bearer({ sub: id, scope: 'files:read' });
  expect((await other.send('{ shares }', {}, { authorization })).codes).toEqual([]);
  expect(other.service.calls()).toEqual([
    `GET /v1/files/${encoded}`,
    'GET /v1/files/a%2Fb%5Cparent',
    `PUT /v1/files/${encoded}`,
    `PUT /v1/files/${encoded}`,
    `GET /v1/people/${encoded}/shares`,
  ]);
  other.service.forget();
  for (const refused of ['a/../b', 'a%2f..', '']) {
    expect(await run(READ, refused)).toEqual(['BAD_USER_INPUT']);
    expect(await run(WRITE, refused)).toEqual([]); // Both return it as data.
  }
  expect(other.service.requests).toEqual([]);
});
