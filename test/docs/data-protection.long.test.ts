import { hash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { runCommand } from '../support/command.ts';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { setUpImport } from '../support/import.ts';
import { found, PERSON } from '../support/person.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { openSandbox } from '../support/sandbox-client.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { runSandbox } from '../support/sandbox-process.ts';
import { clientsOf, createSigner, ISSUER, TENANT_KEYS } from '../support/tokens.ts';
import { registerTestTraces } from '../support/traces.ts';

// What docs/data-protection.md says of each place, seen in the place itself.

const IN_ALL = 'what a person does leaves what the page says';
const IN_IMPORT = 'an import leaves ids in its results and report, and whole rows only in that of rejected ones';

/** Titles of the tests that look into the places of the table, by its first cells without links. */
const LOOKS: Record<string, string> = {
  'cache, in memory or Redis': IN_ALL,
  'rate limits, in memory': 'rate limits in memory have the person, until the gateway ends',
  'rate limits, in Redis': IN_ALL,
  log: IN_ALL,
  'audit log': IN_ALL,
  'traces and metrics': IN_ALL,
  'errors in responses': 'errors in responses quote what the caller sent or the service says, and the log does not',
  'import: results file': IN_IMPORT,
  'import: rejected rows, report': IN_IMPORT,
  GraphiQL: 'GraphiQL leaves operations and variables in the browser, which its site data and history have',
  sandbox: 'the sandbox keeps what is put into it, until a reset',
  'your service': 'the queries and steps of the page export and erase one of several people',
};

const PAGE = read('docs/data-protection.md');

/** Id of the person's calls in rate limits. */
const CALLER = `browser\nacme\n${ISSUER}\n${PERSON.id}`;

const modules = [events, inbox, messages, subscribers, topics];

it('each place of the table has a test that looks into it', () => {
  const [, table = ''] = /\n\| --- .*\n((?:\|.*\n)+)/.exec(PAGE) ?? [];
  const places = table.matchAll(/^\| (.+?) \|/gm).map(([, place = '']) => place.replaceAll(/\*\*|\[|\]\([^)]*\)/g, ''));
  expect([...places]).toEqual(Object.keys(LOOKS));
  const tests = ['long', 'slow'].map((kind) => read(`test/docs/data-protection.${kind}.test.ts`)).join('');
  expect(Object.values(LOOKS).filter((title) => !new RegExp(`\\(['\`]${title}`).test(tests))).toEqual([]);
});

it.runIf(hasRedis)(`what a person does leaves what the page says${redisOnly}`, async () => {
  await using redis = await startRedis();
  using traces = registerTestTraces();
  const folder = await createTestFolder();
  const signer = createSigner();
  const scopes = ['groups:read', 'inbox:read'] as const;
  const store = { redis: { url: redis.url } };
  const quoting = { statusCode: 400, message: [`email must be an email, not ${PERSON.email}`] };
  await using gateway = await startGateway({
    service: ({ method, path, body }) => {
      if (method === 'POST' && path === '/v1/subscribers') {
        return { status: 400, body: quoting };
      }
      const subscriber = { _id: '6b0b690f2dbbaa45c4ee3b30', subscriberId: PERSON.id, email: PERSON.email };
      return {
        status: method === 'GET' ? 200 : 201,
        body: {
          data: body.includes('name')
            ? { acknowledged: true, status: 'processed', transactionId: 't' }
            : path.includes('feed')
              ? { data: [], hasMore: false }
              : [subscriber],
        },
      };
    },
    modules,
    cache: { store, secret: 'a-fake-secret-of-the-cache-0123456789' },
    rateLimits: { store },
    clients: clientsOf(signer, { scopes, rateLimit: { calls: 100, perSeconds: 3_600 } }),
    clientTokens: { secrets: ['a-fake-secret-of-client-tokens-0001'] },
    audit: { to: { file: folder.path('audit.jsonl') } },
    logSecret: 'a-fake-secret-of-the-log',
  });
  const authorization = await signer.bearer({ sub: PERSON.id, scope: scopes.join(' ') });
  const counter = `notigraph:limit:${hash('sha256', CALLER, 'base64url')}`; // Who knows these can find it.
  const groups = '{ notificationGroups { name } inbox { messages { hasMore } } }';
  await expect
    .poll(async () => {
      await gateway.send(groups, {}, { authorization });
      return redis.command('KEYS', '*limit*');
    })
    .toContain(counter); // Until Redis is connected, the process counts by itself.
  const { email, firstName, id: subscriberId } = PERSON;
  const creation = await gateway.send(
    'mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) { ... on MutationError { message } } }',
    { input: { subscriberId, email, firstName, data: { order: PERSON.payload } } },
  );
  const trigger = 'mutation ($input: TriggerEventInput!) { triggerEvent(input: $input) { __typename } }';
  await gateway.send(trigger, {
    input: { event: { workflow: 'welcome', subscriberIds: [subscriberId], payload: { order: PERSON.payload } } },
  });
  await fetch(new URL('/client-tokens', gateway.url), {
    method: 'POST',
    headers: { authorization: `ApiKey ${TENANT_KEYS.acme}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: subscriberId, scopes: ['groups:read'] }),
  });

  expect(found(JSON.stringify(creation.body))).toEqual(['email']); // The service's message.
  const isToken = ({ msg }: Record<string, unknown>) => msg === 'client token';
  expect(found(JSON.stringify(gateway.log.filter((line) => !isToken(line))))).toEqual([]);
  expect(found(JSON.stringify(gateway.log.filter(isToken)))).toEqual(['id']);
  expect(found(await readFile(folder.path('audit.jsonl'), 'utf8'))).toEqual(['id']);
  expect(found(await gateway.metrics())).toEqual([]);
  const spans = traces.raw().map(({ name, attributes, events, links, status }) => ({
    ...{ name, attributes, events, links, status },
  }));
  const names = new Set(spans.map(({ name }) => name));
  expect(names).toContain('POST /v1/subscribers');
  expect(names).toContain('POST /v1/events/trigger');
  expect(found(JSON.stringify(spans))).toEqual([]);
  const keys = await redis.command('KEYS', '*');
  const kinds = new Set((keys as string[]).map((key) => /^notigraph:(\w+):/.exec(key)?.[1]));
  expect([...kinds].toSorted()).toEqual(['cache', 'limit']);
  for (const key of keys as string[]) {
    const dump = String(await redis.command('DUMP', key));
    expect([key, found(key + dump)]).toEqual([key, []]);
  }
  const left = Number(await redis.command('PTTL', counter));
  expect([left > 0, left <= 3_600_000]).toEqual([true, true]);
});

/** Returns the callers in the maps of this process that count calls, after a garbage collection. */
async function findCounts(): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    const { result: prototype } = await session.post('Runtime.evaluate', { expression: 'Map.prototype' });
    const { objects } = await session.post('Runtime.queryObjects', { prototypeObjectId: prototype.objectId ?? '' });
    const { result } = await session.post('Runtime.callFunctionOn', {
      objectId: objects.objectId ?? '',
      functionDeclaration: String(function counts(this: Map<unknown, unknown>[]) {
        // Also returned: prototypes of other classes of maps.
        const maps = this.filter((map) => map.constructor.prototype !== map);
        const isCount = ([, value]: [unknown, unknown]) => Object.hasOwn(Object(value), 'msPerCall');
        return maps.flatMap((map) => [...map].filter(isCount).map(([key]) => key));
      }),
      returnByValue: true,
    });
    return result.value;
  } finally {
    session.disconnect();
  }
}

it('rate limits in memory have the person, until the gateway ends', async () => {
  const signer = createSigner();
  const clients = clientsOf(signer, { rateLimit: { calls: 100, perSeconds: 3_600 } });
  const gateway = await startGateway({ service: 'healthy', modules, clients });
  const authorization = await signer.bearer({ sub: PERSON.id });
  await gateway.data('{ notificationGroups { name } }', {}, { authorization });
  expect(await findCounts()).toContain(CALLER);
  gateway.advance(3_601);
  await gateway.data('{ notificationGroups { name } }', {}, { authorization: await signer.bearer({ sub: 'another' }) });
  expect(await findCounts()).toContain(CALLER); // Nothing is missing from its limit any more.
  await gateway[Symbol.asyncDispose]();
  expect(found(String(await findCounts()))).toEqual([]);
});

it('errors in responses quote what the caller sent or the service says, and the log does not', async () => {
  const quoting = { statusCode: 404, message: `Subscriber ${PERSON.id} (${PERSON.phone}) not found` };
  await using gateway = await startGateway({ service: () => ({ status: 404, body: quoting }), modules });
  const { id, email } = PERSON;
  const DELETE =
    'mutation ($id: ID!) { deleteSubscriber(input: { subscriberId: $id }) { ... on MutationError { message } } }';
  const operations: [string, Record<string, unknown>, string[]][] = [
    [DELETE, { id }, ['id', 'phone']],
    ['query ($page: Int!) { messages(page: $page) { hasMore } }', { page: email }, ['email']],
    [`{ messages(page: "${email}") { hasMore } }`, {}, ['email']],
  ];
  for (const [document, variables, quoted] of operations) {
    const { body } = await gateway.send(document, variables);
    expect([document, found(JSON.stringify(body))]).toEqual([document, quoted]);
  }
  expect(found(JSON.stringify(gateway.log))).toEqual([]);
});

it('the sandbox keeps what is put into it, until a reset', async () => {
  const folder = await createTestFolder();
  const file = folder.path('sandbox.db');
  const inFiles = async () => {
    const contents = (await readdir(folder.path())).map((name) => readFile(folder.path(name), 'latin1'));
    return found((await Promise.all(contents)).join());
  };
  const { id, email, phone, firstName, payload } = PERSON;
  await using send = await openSandbox({ file });
  const headers = { 'idempotency-key': 'a-key-of-this-test' };
  await send('POST /v1/subscribers', { body: { subscriberId: id, email, phone, firstName } });
  await send('POST /v1/events/trigger', { body: { name: 'comment-mention', to: id, payload: { payload } }, headers });
  await send(`DELETE /v1/subscribers/${id}`);
  expect(await inFiles()).toEqual(Object.keys(PERSON));
  expect(await runSandbox('reset', file, '--yes')).toMatchObject({ code: 0 });
  expect(await inFiles()).toEqual([]);
});

it('an import leaves ids in its results and report, and whole rows only in that of rejected ones', async () => {
  const { id, email, firstName } = PERSON;
  const row = `${id},${email},${firstName}`;
  const { folder, run } = await setUpImport(`subscriberId,email,firstName\n${row}\n${id}-2,nobody,${firstName}\n`);
  await run('--skip-invalid', '--report', 'report.jsonl');
  const files = await readdir(folder.path());
  expect(files.toSorted()).toEqual(['report.jsonl', 'users.csv', 'users.csv.rejected.csv', 'users.csv.results.db']);
  const inFile = async (name: string) => found(await readFile(folder.path(name), 'latin1'));
  expect(await inFile('users.csv.results.db')).toEqual(['id']);
  expect(await inFile('report.jsonl')).toEqual(['id']);
  expect(await inFile('users.csv.rejected.csv')).toEqual(['id', 'firstName']);
  for (const name of files.filter((each) => each !== 'users.csv')) {
    expect([name, (await stat(folder.path(name))).mode & 0o777]).toEqual([name, 0o600]);
  }
});

it('the queries and steps of the page export and erase one of several people', async () => {
  await using gateway = await startGateway({ service: 'sandbox', modules });
  const people = [PERSON.id, 'somebody-else'];
  const create = 'mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) { __typename } }';
  const trigger = 'mutation ($input: TriggerEventInput!) { triggerEvent(input: $input) { __typename } }';
  await gateway.data('mutation { createTopic(input: { key: "news", name: "News" }) { __typename } }');
  for (const subscriberId of people) {
    await gateway.data(create, { input: { subscriberId, email: PERSON.email } });
    const subscriberIds = [subscriberId];
    await gateway.data(trigger, {
      input: { event: { workflow: 'comment-mention', subscriberIds, payload: { order: PERSON.payload } } },
    });
  }
  const add =
    'mutation ($ids: [ID!]!) { addSubscribersToTopic(input: { key: "news", subscriberIds: $ids }) { __typename } }';
  await gateway.data(add, { ids: people });
  const [query = ''] = blocks(PAGE, 'graphql');
  type Exported = { subscriber: object | null; messages: { messages: { id: string }[] } | null };
  const exportOf = (id: string) => gateway.data<Exported>(query, { id, page: 0 });

  const { messages: own, subscriber } = await exportOf(PERSON.id);
  expect(subscriber).toMatchObject({ email: PERSON.email });
  expect(own?.messages.length).toBeGreaterThan(0);
  const remove =
    'mutation ($ids: [ID!]!) { removeSubscribersFromTopic(input: { key: "news", subscriberIds: $ids }) { __typename } }';
  await gateway.data(remove, { ids: [PERSON.id] });
  for (const { id } of own?.messages ?? []) {
    await gateway.data('mutation ($id: ID!) { deleteMessage(input: { id: $id }) { __typename } }', { id });
  }
  await gateway.data('mutation ($id: ID!) { deleteSubscriber(input: { subscriberId: $id }) { __typename } }', {
    id: PERSON.id,
  });

  const left = await gateway.data('{ topics { topics { key subscriberIds } } }');
  expect(JSON.stringify(left)).not.toContain(PERSON.id);
  const afterwards = await exportOf(PERSON.id);
  expect([afterwards.subscriber, afterwards.messages?.messages ?? []]).toEqual([null, []]);
  const { subscriber: other, messages: others } = await exportOf('somebody-else');
  expect([other, others?.messages.length]).toEqual([expect.any(Object), own?.messages.length]);
});

it('erases one of 50 imported people, with a cache in front and the results of the import beside', async () => {
  const folder = await createTestFolder();
  await using gateway = await startGateway({ service: 'sandbox', modules, cache: true });
  const { service } = gateway;
  const ids = Array.from({ length: 50 }, (_, i) => `person-${i}`);
  const erased = 'person-17';
  const others = ids.filter((id) => id !== erased);
  const writeUsers = (list: readonly string[]) =>
    writeFile(
      folder.path('users.csv'),
      ['subscriberId,email', ...list.map((id) => `${id},${id}@mail.example`), ''].join('\n'),
    );
  const config = { audit: { to: { file: folder.path('audit.jsonl') }, required: true } };
  const run = (...args: string[]) =>
    runCommand({
      cwd: folder.path(),
      args: ['subscribers', ...args],
      env: {
        NOTIGRAPH_IMPORT_KEY: SANDBOX_KEYS.development,
        NOTIGRAPH_UPSTREAM: service.url,
        NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config),
      },
    });
  const exportOf = async (...args: string[]) =>
    (await run('export', ...args)).stdout
      .trimEnd()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
  await writeUsers(ids);
  expect(await run('import', 'users.csv')).toMatchObject({ code: 0 });
  await gateway.data('mutation { createTopic(input: { key: "news", name: "News" }) { __typename } }');
  await gateway.data(
    'mutation ($ids: [ID!]!) { addSubscribersToTopic(input: { key: "news", subscriberIds: $ids }) { __typename } }',
    { ids },
  );
  const trigger = 'mutation ($input: TriggerEventInput!) { triggerEvent(input: $input) { __typename } }';
  await gateway.data(trigger, { input: { event: { workflow: 'comment-mention', subscriberIds: ids, payload: {} } } });
  const everything = `query ($id: ID!) {
    subscriber(subscriberId: $id) { email }
    messages(subscriberId: $id) { messages { id } }
    topic(key: "news") { subscriberIds }
    workflow(idOrIdentifier: "comment-mention") { name }
  }`;
  const before = JSON.stringify(await gateway.data(everything, { id: erased })); // Also fills the cache.
  expect(before.split(erased).length).toBeGreaterThan(2);
  await writeFile(folder.path('others.txt'), others.join('\n'));
  const recordsOfOthers = await exportOf('--file', 'others.txt');
  const messages = (await exportOf(erased)).filter(({ kind }) => kind === 'message');
  expect(messages.length).toBeGreaterThan(0);

  const { code, stdout } = await run('erase', erased, '--yes');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining(`${erased}: erased: membership of 1 topic`),
  });

  expect(JSON.stringify(await gateway.data(everything, { id: erased }))).not.toContain(erased);
  expect(await gateway.data(everything, { id: erased })).toMatchObject({ subscriber: null, messages: null });
  expect(await exportOf('--file', 'others.txt')).toEqual(recordsOfOthers);
  const audit = (await readFile(folder.path('audit.jsonl'), 'utf8')).trimEnd().split('\n');
  const steps = audit.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome === 'APPLIED');
  expect(steps.map(({ field, requestId, ids: { messageId } }) => [field, requestId, messageId])).toEqual([
    ['removeSubscribersFromTopic', `erase-${erased}`, undefined],
    ...messages.map(({ id }) => ['deleteMessage', `erase-${erased}`, id]),
    ['deleteSubscriber', `erase-${erased}`, undefined],
  ]);
  const results = () => readFile(folder.path('users.csv.results.db'), 'latin1');
  expect(await results()).toContain(erased); // As the output says, with what to do.
  expect(stdout).toContain(
    'If a file that you import has an erased id, the next import creates the person again. Remove the row',
  );
  await writeUsers([...others, 'person-50']);
  expect(await run('import', 'users.csv')).toMatchObject({ code: 0 });
  expect(await results()).not.toContain(erased);
  expect((await run('export', erased)).code).toBe(1);
});
