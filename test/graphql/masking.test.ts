import { getNamedType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { createSchema } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscriberProfiles from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import { connectAgent } from '../support/agent.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { subscriber, workflow } from '../support/records.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

guards('src/modules/types/masking.ts', 'visibleJson');
guards('src/modules/types/masking.ts', 'masked');
guards('src/modules/types/masking.ts', 'mask');
guards('src/modules/types/masking.ts', 'suggests');
guards('src/modules/types/masking.ts', 'toWords');
guards('src/modules/types/masking.ts', 'isPrivate');

const SECRET = 'canary-4711';
const OWN = 'value-of-the-customer';
const modules = [events, messages, topics, workflowPages, subscriberProfiles];
const schema = createSchema({ federation: true, introspection: true }, modules);
const signer = createSigner();
const SERVER = 'ApiKey of-a-server';
const BROWSER = await signer.bearer();

/** JSON with credentials in every form, in a record of any type. */
const HOSTILE = {
  webhookUrl: `https://example.com/${SECRET}`,
  integration: { providerId: 'slack', credentials: SECRET, channel: SECRET },
  Authorization: `Bearer ${SECRET}`,
  headers: { 'X-Api-Key': SECRET, accept: 'text/html' },
  variants: [{ apiKey: SECRET, subject: 'Hello' }, [{ name: 'fcmToken', value: SECRET }]],
  callback: `https://user:${SECRET}@example.com/in`,
  secrets: { providerId: SECRET },
};

const variable = { ...HOSTILE, name: 'apiKey', type: 'String', defaultValue: SECRET };

const WORKFLOW = {
  ...workflow(),
  ...HOSTILE,
  data: { apiKey: OWN, url: `https://a:${OWN}@example.com` },
  workflowIntegrationStatus: HOSTILE,
  triggers: [
    {
      ...HOSTILE,
      identifier: 'w',
      variables: [variable],
      subscriberVariables: [variable],
      reservedVariables: [HOSTILE],
    },
  ],
  steps: [
    {
      ...HOSTILE,
      _parentId: HOSTILE,
      replyCallback: { active: true, url: `https://example.com/?secret=${SECRET}`, secret: SECRET },
      metadata: { ...HOSTILE, timed: { weekDays: [HOSTILE], monthDays: [`https://example.com/hooks/${SECRET}`] } },
      filters: [{ ...HOSTILE, children: [{ ...HOSTILE, field: 'apiKey', value: [SECRET] }] }],
      template: { ...HOSTILE, type: 'email', content: [HOSTILE], variables: [variable] },
    },
  ],
};
const SUBSCRIBER = { ...subscriber(), ...HOSTILE, channels: [HOSTILE], data: WORKFLOW.data };

const gateway = ofFile(
  await startGateway({
    service: ({ path }) => {
      const record = path.includes('/subscribers') ? SUBSCRIBER : WORKFLOW;
      const isPage = /^\/v1\/(?:subscribers|workflows)\?/.test(path);
      const stats = { _id: '2026-01-02', count: 1, templates: ['w1'], channels: [] };
      return {
        body: path.includes('/stats')
          ? { data: [stats] }
          : isPage
            ? { page: 0, totalCount: 1, hasMore: false, data: [record] }
            : { data: record },
      };
    },
    clients: clientsOf(signer),
    modules,
    federation: true,
    cache: true,
    mcp: { manifest: { Read: 'query Read { workflow(idOrIdentifier: "w1") { extra steps { replyCallback } } }' } },
  }),
);

const fieldsOf = (type: unknown) => (isObjectType(type) ? Object.values(type.getFields()) : []);

/** Returns a selection of all fields of a type and of its parts, except those that make calls. */
function selectAll(typeName: string): string {
  const selections = fieldsOf(schema.getType(typeName))
    .filter(({ extensions }) => !('calls' in extensions))
    .map(({ name, type }) => `${name} ${isObjectType(getNamedType(type)) ? selectAll(getNamedType(type).name) : ''}`);
  return `{ ${selections.join(' ')} }`;
}

const ALL = { workflow: selectAll('Workflow'), summary: selectAll('WorkflowSummary'), person: selectAll('Subscriber') };

describe('JSON of records', () => {
  it.each([
    ['a workflow', `{ workflow(idOrIdentifier: "w1") ${ALL.workflow} }`],
    ['several workflows', `{ workflows(idsOrIdentifiers: ["w1"]) ${ALL.workflow} }`],
    ['workflows of statistics', `{ notificationStats { workflows ${ALL.workflow} } }`],
    ['a list of workflows', `{ workflowPage { workflows ${ALL.summary} } }`],
    [
      'the result of a change',
      `mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow ${ALL.workflow} } } }`,
    ],
    [
      'an entity',
      `{ _entities(representations: [{ __typename: "Workflow", id: "w1" }]) { ... on Workflow ${ALL.workflow} } }`,
    ],
    ['a subscriber', `{ subscriber(subscriberId: "u1") ${ALL.person} }`],
    ['a list of subscribers', `{ subscribers { subscribers ${ALL.person} } }`],
    [
      'a new subscriber',
      `mutation { createSubscriber(input: { subscriberId: "u1" }) { ... on CreateSubscriberSuccess { subscriber ${ALL.person} } } }`,
    ],
    [
      'several new subscribers',
      `mutation { createSubscribers(input: { subscribers: [{ subscriberId: "u1" }] }) { results { ... on CreateSubscriberSuccess { subscriber ${ALL.person} } } } }`,
    ],
    [
      'an updated subscriber',
      `mutation { updateSubscriber(input: { subscriberId: "u1", phone: "+1" }) { ... on UpdateSubscriberSuccess { subscriber ${ALL.person} } } }`,
    ],
  ])('shows browsers no credentials of %s, and servers all that the service sent', async (_, document) => {
    for (let read = 0; read < 2; read += 1) {
      // The second time from the cache.
      const seen = JSON.stringify(await gateway.data(document, {}, { authorization: BROWSER }));
      expect(seen).not.toContain(SECRET);
      expect(seen).toContain('[masked]');
      expect(seen).toContain(OWN);
      const sent = JSON.stringify(await gateway.data(document, {}, { authorization: SERVER }));
      expect(sent).toContain(SECRET);
      expect(sent).not.toContain('[masked]');
    }
  });

  it('shows AI agents with a token no credentials either, and those with a key all', async () => {
    await using browser = await connectAgent(gateway, BROWSER);
    await using server = await connectAgent(gateway, SERVER);
    const [seen, sent] = [await browser.call('Read'), await server.call('Read')];
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(JSON.stringify(seen)).toContain('[masked]');
    expect(JSON.stringify(sent)).toContain(SECRET);
  });

  it('is in no explanation and no log', async () => {
    const query = `{ workflow(idOrIdentifier: "w1") ${ALL.workflow} }`;
    const { body } = await sendExplain(gateway, { query }, { authorization: BROWSER });
    expect(JSON.stringify([body, gateway.log])).not.toContain(SECRET);
  });

  it('is masked in every field with JSON but `data`', () => {
    const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
      fieldsOf(type)
        .filter((field) => /^JSON/.test(getNamedType(field.type).name) && field.name !== 'extra')
        .map(({ name }) => `${type.name}.${name}`),
    );
    expect(fields.toSorted()).toEqual([
      'Message.contentBlocks',
      'Message.data',
      'Message.payload',
      'StepTemplate.contentBlocks',
      'Subscriber.channels',
      'Subscriber.data',
      'TimedSettings.monthDays',
      'TimedSettings.weekDays',
      'Workflow.data',
      'Workflow.workflowIntegrationStatus',
      'WorkflowStep.parentId',
      'WorkflowStep.replyCallback',
      'WorkflowStepSummary.parentId',
      'WorkflowStepSummary.replyCallback',
      'WorkflowSummary.data',
      'WorkflowSummary.workflowIntegrationStatus',
      'WorkflowTrigger.reservedVariables',
    ]);
  });
});

describe('browsers', () => {
  /** Reads a reply callback of the service. */
  async function read(replyCallback: Record<string, unknown>, authorization = BROWSER): Promise<unknown> {
    await using other = await startGateway({
      service: () => ({ body: { data: workflow({ steps: [{ replyCallback }] }) } }),
      clients: clientsOf(signer),
    });
    const document = '{ workflow(idOrIdentifier: "w1") { steps { replyCallback } } }';
    const data = await other.data<{ workflow: { steps: { replyCallback: unknown }[] } }>(
      document,
      {},
      { authorization },
    );
    return data.workflow.steps[0]?.replyCallback;
  }

  it.each<[string, Record<string, unknown>, object]>([
    ['a key of letters that names no value', { key: 'opensesame' }, { key: '[masked]' }],
    [
      'a credential of letters beside a value',
      { apiKey: 'opensesame', value: 'en' },
      { apiKey: '[masked]', value: 'en' },
    ],
    [
      'values below names',
      { secret: SECRET, nested: [{ passphrase: [SECRET] }] },
      { secret: '[masked]', nested: [{ passphrase: ['[masked]'] }] },
    ],
    ['no empty values', { token: '', secret: null }, { token: '', secret: null }],
    [
      'values of pairs, but not their names',
      {
        a: [
          { name: 'fcmToken', value: SECRET },
          { key: 'apiKey', value: [SECRET] },
          { header: 'X-Auth', values: SECRET },
        ],
      },
      {
        a: [
          { name: 'fcmToken', value: '[masked]' },
          { key: 'apiKey', value: ['[masked]'] },
          { header: 'X-Auth', values: '[masked]' },
        ],
      },
    ],
    [
      'no other pairs',
      {
        a: [
          { name: 'color', value: 'red' },
          { key: 'color', value: 'red' },
          { key: 'kind', value: 'password' },
          { title: 'Password reset', count: 1 },
        ],
      },
      {
        a: [
          { name: 'color', value: 'red' },
          { key: 'color', value: 'red' },
          { key: 'kind', value: 'password' },
          { title: 'Password reset', count: 1 },
        ],
      },
    ],
    ['keys that are no names', { a: { key: `${SECRET}`, value: 1 } }, { a: { key: '[masked]', value: 1 } }],
    [
      'lists of two',
      {
        a: [
          ['Authorization', SECRET],
          ['Accept', 'text/html'],
          ['token', 'b', 'c'],
        ],
      },
      {
        a: [
          ['Authorization', '[masked]'],
          ['Accept', 'text/html'],
          ['token', 'b', 'c'],
        ],
      },
    ],
    [
      'addresses with a user or a password',
      { a: [`https://user:${SECRET}@example.com`, `//${SECRET}@example.com/in`, `amqp://a:${SECRET}@mq.example/`] },
      { a: ['[masked]', '[masked]', '[masked]'] },
    ],
    [
      'addresses with a token in the query or fragment',
      {
        a: ['?api_key=', '?a=1&access_token=', '#id_token=', '?sig=', '/in?code=', '?a;secret='].map(
          (start) => `https://example.com${start}${SECRET}`,
        ),
      },
      { a: Array(6).fill('[masked]') },
    ],
    [
      'addresses of webhooks',
      {
        a: [
          `https://hooks.slack.example/services/${SECRET}`,
          `https://chat.example/api/webhooks/1/${SECRET}`,
          `https://x.webhook.example/${SECRET}`,
          `/hook/${SECRET}`,
        ],
      },
      { a: Array(4).fill('[masked]') },
    ],
    ['texts with such an address', { a: `Open\nhttps://example.com/?token=${SECRET}` }, { a: '[masked]' }],
    [
      'no other addresses',
      {
        a: [
          'https://example.com/@user?page=2#top',
          'mailto:a@example.com',
          'https://example.com/reset?token={{token}}',
          'webhook',
        ],
      },
      {
        a: [
          'https://example.com/@user?page=2#top',
          'mailto:a@example.com',
          'https://example.com/reset?token={{token}}',
          'webhook',
        ],
      },
    ],
    [
      'settings of a provider but its name',
      { a: { providerId: 'slack', type: 'chat', channel: SECRET, [SECRET]: 1 } },
      { a: { providerId: 'slack', type: 'chat', channel: '[masked]', '[masked]': '[masked]' } },
    ],
  ])('see masked %s', async (_, sent, expected) => {
    expect(await read(sent)).toEqual(expected);
    expect(await read(sent, SERVER)).toEqual(sent);
  });
});

describe('names', () => {
  /** Returns the names whose values browsers see as `[masked]`: as members, in pairs, and as parameters of an address. */
  async function maskedOf(names: readonly string[]): Promise<string[][]> {
    const replyCallback = {
      members: Object.fromEntries(names.map((name) => [name, OWN])),
      pairs: names.map((name) => ({ name, value: OWN })),
      addresses: names.map((name) => `https://example.com/in?a=1&${name.replaceAll(' ', '%20')}=${OWN}`),
    };
    await using other = await startGateway({
      service: () => ({ body: { data: workflow({ steps: [{ replyCallback }] }) } }),
      clients: clientsOf(signer),
    });
    const document = '{ workflow(idOrIdentifier: "w1") { steps { replyCallback } } }';
    const data = await other.data(document, {}, { authorization: BROWSER });
    const { members, pairs, addresses } = Object(data).workflow.steps[0].replyCallback;
    return [
      names.filter((name) => members[name] === '[masked]'),
      names.filter((_, i) => pairs[i].value === '[masked]'),
      names.filter((_, i) => addresses[i] === '[masked]'),
    ];
  }

  it.each<[string, string]>([
    [
      'words in others',
      'author authorName authority authored authorized keyword turkey monkey keyboard keynote hockey',
    ],
    ['parts of words', 'compass passenger passport opinion spinning secretary hashtag potpie cryptic designed webhoo'],
    [
      'keys that name something',
      'issueKey issue_key project-key sortKey primaryKey digestKey translationKey objectKeys',
    ],
    [
      'words beside others',
      'sessionTitle deviceName deviceType keyPoints pinColor passCount countryCode zip_code code2',
    ],
    ['others', 'name title email orderId connection string access private description totalPrice'],
  ])('browsers see the values of %s', async (_, names) => {
    expect(await maskedOf(names.split(' '))).toEqual([[], [], []]);
  });

  it.each<[string, string]>([
    [
      'words',
      'token secret password passwd passphrase passcode pwd credential credentials auth authorization bearer jwt',
    ],
    ['words for numbers', 'pin otp totp hotp cvv cvc pass sig'],
    [
      'words for others',
      'dsn hash signature hmac cookie session device fcm apns endpoint p256dh csrf webhook key keys',
    ],
    ['two words', 'accessCode verificationCode pinCode connectionString privatePem sessionId deviceId keyPair webHook'],
    ['keys', 'apiKey accessKey privateKey publicKey signingKey encryptionKey sendgridKey userKey vapidKey accessKeyId'],
    [
      'camel case',
      'fcmToken webhookUrl userPassword smtpAuth dbPass cardPin clientSecret currentSession subscriberHash',
    ],
    ['acronyms', 'APIKey JWTToken userJWT OAuth2Token dbDSN TOTP IDToken HMACHash xAPIKey PEM'],
    ['other separators', 'api_key DB_PASSWORD AWS_SECRET_ACCESS_KEY x-api-key X-Auth smtp.pass api.key api%5Fkey'],
    ['plurals and numbers', 'apiKeys tokens sessions backupCodes hashes password2 apiKey1 oauth2 deviceTokens cookies'],
    [
      'one word for two',
      'apikey accesskey accesstoken authtoken clientsecret sessionid PHPSESSID basicauth mydbpassword passwort',
    ],
  ])('browsers see no values of %s', async (_, names) => {
    const all = names.split(' ');
    expect(await maskedOf(all)).toEqual([all, all, all]);
  });

  it('browsers see no values of names with spaces', async () => {
    const all = ['api key', 'Access Code', 'connection string', 'pass word', 'session id', 'smtp pass'];
    expect(await maskedOf(all)).toEqual([all, all, all]);
  });
});

it('browsers see who wrote the comments of the sandbox sample', async () => {
  const tenants = { ...TENANT_KEYS, acme: SANDBOX_KEYS.development };
  await using sample = await startGateway({
    service: 'sandbox',
    clients: clientsOf(signer, { tenants, scopes: ['messages:read'] }),
    modules: [messages],
  });
  const document = '{ messages(limit: 100) { messages { payload } } }';
  const seen = JSON.stringify(
    await sample.data(document, {}, { authorization: await signer.bearer({ scope: 'messages:read' }) }),
  );
  expect(seen).toContain('"authorName":"Mei Tanaka"');
  expect(seen).not.toContain('[masked]');
});

it('in `extra`, the fields of a record name the values of pairs, and a provider hides nothing else', async () => {
  const children = [
    { field: 'apiKey', value: [SECRET] },
    { field: `${'a'.repeat(64)}-apiKey`, value: ['shown'] },
  ];
  const record = { ...workflow(), steps: [{ filters: [{ children }] }] };
  await using other = await startGateway({
    service: () => ({ body: { data: { ...record, provider: 'acme', timezone: 'UTC' } } }),
    clients: clientsOf(signer),
  });
  const document = '{ workflow(idOrIdentifier: "w1") { extra steps { filters { children { extra } } } } }';
  expect(await other.data(document, {}, { authorization: BROWSER })).toEqual({
    workflow: {
      extra: { provider: 'acme', timezone: 'UTC' },
      steps: [{ filters: [{ children: [{ extra: { value: ['[masked]'] } }, { extra: { value: ['shown'] } }] }] }],
    },
  });
});

it.each<[string, string]>([
  ['words of names', `&${'token'.repeat(800_000)}=`],
  ['parameters', '&a=b'.repeat(1_000_000)],
  ['segments', '/a'.repeat(2_000_000)],
  ['slashes', `${'/'.repeat(4_000_000)}@`],
  ['capital letters', `&${'A'.repeat(4_000_000)}=`],
  ['words of a name', `&${'aB'.repeat(2_000_000)}=`],
  ['numbers', `&${`a${'1'.repeat(1_999)}`.repeat(2_000)}=`],
  ['keys that name nothing', `&${'issue-key'.repeat(400_000)}=`],
  ['one segment with a hook', `/${'a'.repeat(4_000_000)}hook`],
])('4 MB of %s take little time', async (_, text) => {
  await using other = await startGateway({
    service: () => ({ body: { data: workflow({ steps: [{ replyCallback: { text } }] }) } }),
    clients: clientsOf(signer),
  });
  const cost = async (authorization: string) => {
    const document = '{ workflow(idOrIdentifier: "w1") { steps { replyCallback } } }';
    return (await measureCpu(() => other.send(document, {}, { authorization }))).cpuMs;
  };
  const [sent, seen] = [await cost(SERVER), await cost(BROWSER)];
  expect(seen).toBeLessThan(sent + 1_500); // As any body; quadratic time would be hours.
});
