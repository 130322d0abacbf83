import { readdir, readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import events from '../../src/modules/events.ts';
import inbox from '../../src/modules/inbox.ts';
import messages from '../../src/modules/messages.ts';
import subscribers from '../../src/modules/subscribers.ts';
import topics from '../../src/modules/topics.ts';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { setUpImport } from '../support/import.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

// What docs/data-protection.md says of each place, seen in the place itself.

const PAGE = read('docs/data-protection.md');

/** A person, by what is only theirs. */
const PERSON = {
  id: 'canary-person-71',
  email: 'canary-71@mail.example',
  firstName: 'Canary71',
  payload: 'canary-order-71',
};

/** Returns the members of the person that a text has. */
const found = (text: string): string[] =>
  Object.entries(PERSON).flatMap(([name, value]) => (text.includes(value) ? [name] : []));

const modules = [events, inbox, messages, subscribers, topics];

it.runIf(hasRedis)(`what a person does leaves what the page says${redisOnly}`, async () => {
  await using redis = await startRedis();
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
  const groups = '{ notificationGroups { name } inbox { messages { hasMore } } }';
  await expect
    .poll(async () => {
      await gateway.send(groups, {}, { authorization });
      return redis.command('KEYS', '*limit*');
    })
    .not.toEqual([]); // Until Redis is connected, the process counts by itself.
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
  const keys = await redis.command('KEYS', '*');
  const kinds = new Set((keys as string[]).map((key) => /^notigraph:(\w+):/.exec(key)?.[1]));
  expect([...kinds].toSorted()).toEqual(['cache', 'limit']);
  for (const key of keys as string[]) {
    const dump = String(await redis.command('DUMP', key));
    expect([key, found(key + dump)]).toEqual([key, []]);
  }
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
