import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { startNotigraph } from '../support/process.ts';
import {
  MISBEHAVIOURS,
  type RawAnswer,
  type RawConnection,
  type RawRequest,
  rawAnswer,
  startRawUpstream,
} from '../support/raw-upstream.ts';
import { group, subscriber, workflow } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const AUDIENCE = 'dashboard';
const SCOPES = ['workflows:read', 'groups:read', 'subscribers:read', 'subscribers:write', 'feeds:write'] as const;

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, scope: SCOPES.join(' ') } });
});

afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const digestOf = (authorization: string): string =>
  createHash('sha256').update(authorization).digest('hex').slice(0, 16);

/** The same from run to run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Answers with a digest of the key, in every text that a client can see. */
function echo({ method, path, headers }: RawRequest): RawAnswer {
  const name = digestOf(headers.authorization ?? '');
  const id = decodeURIComponent(path.split('/').at(-1) ?? '');
  if (method === 'POST') {
    return { status: 201, body: { data: subscriber({ subscriberId: 'u', firstName: name }) } };
  }
  return { body: { data: path === '/v1/notification-groups' ? [group({ name })] : workflow({ _id: id, name }) } };
}

const READ = (id: string) => `{ workflow(idOrIdentifier: "${id}") { id name } }`;
const LIST = () => '{ notificationGroups { name } }';
const WRITE = () =>
  'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { subscriber { firstName } } } }';

/** Mostly reads of one record. */
const MIX = [READ, READ, READ, READ, READ, LIST, LIST, WRITE];

/** Somebody who asks, and the key that the service must be called with for them. */
interface Asker {
  authorization: string;
  key: string;
}

interface Crowd {
  pairs: number;
  keys: Readonly<Record<string, string>>;
  pairOf(pair: number): readonly [Asker, Asker];
  idOf(pair: number): string;
}

/** Sends pairs of the same operation in the same tick, to an upstream that fails one time in ten. */
async function sendPairs({ pairs, keys, pairOf, idOf }: Crowd) {
  const random = createRandom(42);
  const requested = new Map<string, number>();

  function serve(request: RawRequest, connection: RawConnection): void {
    const call = `${request.headers.authorization} ${request.method} ${request.path}`;
    requested.set(call, (requested.get(call) ?? 0) + 1);
    const dice = random();
    if (dice < 0.03) {
      connection.answer({ status: 503, body: {} });
    } else if (dice < 0.06) {
      connection.reset();
    } else if (dice < 0.1) {
      setTimeout(() => connection.answer(echo(request)), 5 + 20 * random());
    } else {
      connection.answer(echo(request));
    }
  }

  await using upstream = await startRawUpstream(serve);
  await using gateway = await startGateway({
    upstream: upstream.url,
    policies: { retry: { baseDelayMs: 5, maxDelayMs: 10 } },
    audiences: {
      browser: {
        issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256'] }],
        scopes: SCOPES,
        tenants: keys,
      },
    },
  });
  const { origin, pathname } = new URL(gateway.url);
  const client = new Pool(origin, { connections: 80, pipelining: 1 });
  const crossed: string[] = [];
  let served = 0;

  async function send(document: string, { authorization, key }: Asker): Promise<void> {
    const { body } = await client.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization },
      body: JSON.stringify({ query: document }),
    });
    const text = await body.text();
    const [, seen] = /"(?:name|firstName)":"(\w+)"/.exec(text) ?? [];
    if (seen !== undefined && seen !== digestOf(`ApiKey ${key}`)) {
      crossed.push(`${key} got ${text}`);
    }
    served += seen === undefined ? 0 : 1;
  }

  let next = 0;
  async function sendInTurn(): Promise<void> {
    while (next < pairs) {
      const pair = next;
      next += 1;
      const document = (MIX[pair % MIX.length] ?? READ)(idOf(pair));
      await Promise.all(pairOf(pair).map((asker) => send(document, asker)));
    }
  }
  await Promise.all(Array.from({ length: 40 }, sendInTurn));
  await client.close();
  return { crossed, served, requested };
}

const browser = (tenant: string, sub: string) => `Bearer ${issuer.sign({ tenant, sub })}`;

describe('of thousands of pairs of the same operation in the same tick', () => {
  it("by tokens of two tenants, each gets its own tenant's answer", async () => {
    const pairs = 4_000;
    const names = Array.from({ length: 48 }, (_, i) => `tenant-${i}`);
    const keys = Object.fromEntries(names.map((name) => [name, `key-of-${name}`]));
    const askers = names.map(
      (name): Asker => ({ authorization: browser(name, 'the same person'), key: `key-of-${name}` }),
    );
    const askerOf = (i: number) => askers[i % askers.length] ?? { authorization: '', key: '' };
    // Tokens that are new come between those that were seen before.
    const renewed = (pair: number, asker: Asker): Asker =>
      pair % 10 === 0
        ? { ...asker, authorization: browser(asker.key.slice('key-of-'.length), `person ${pair}`) }
        : asker;
    const { crossed, served, requested } = await sendPairs({
      pairs,
      keys,
      pairOf: (pair) => [renewed(pair, askerOf(pair * 7)), renewed(pair, askerOf(pair * 7 + 1))],
      idOf: (pair) => `id-${pair % 3}`,
    });
    expect(crossed).toEqual([]);
    expect(served).toBeGreaterThan(2 * pairs * 0.95);
    const used = new Set([...requested.keys()].map((call) => call.split(' ')[1]));
    expect(used).toEqual(new Set(Object.values(keys)));
  });

  it('by a token and by a server with another key, each gets its own answer, and none is shared', async () => {
    const pairs = 2_000;
    const { crossed, served, requested } = await sendPairs({
      pairs,
      keys: { acme: 'key-of-acme' },
      pairOf: () => [
        { authorization: token, key: 'key-of-acme' },
        { authorization: 'ApiKey key-of-a-server', key: 'key-of-a-server' },
      ],
      idOf: () => 'same',
    });
    expect(crossed).toEqual([]);
    expect(served).toBeGreaterThan(2 * pairs * 0.9);
    for (const key of ['key-of-acme', 'key-of-a-server']) {
      expect(requested.get(`ApiKey ${key} GET /v1/workflows/same`)).toBeGreaterThan(10);
    }
    expect([...requested.keys()].every((call) => /^ApiKey key-of-(?:acme|a-server) /.test(call))).toBe(true);
  });

  let token: string;
  beforeAll(() => {
    token = browser('acme', 'ada');
  });
});

describe('reads of the same record at the same time', () => {
  /** How many calls a read costs two askers, both of whom have asked before the first is answered. */
  async function callsFor(askers: readonly string[]): Promise<string[]> {
    const held: [RawRequest, RawConnection][] = [];
    await using upstream = await startRawUpstream((request, connection) => held.push([request, connection]));
    await using gateway = await startGateway({
      upstream: upstream.url,
      audiences: {
        browser: {
          issuers: [{ issuer: issuer.url, audience: AUDIENCE, publicKey: issuer.key.pem, algorithms: ['ES256'] }],
          scopes: SCOPES,
          tenants: { acme: 'key-of-acme', globex: 'key-of-globex' },
        },
      },
    });
    const answers = Promise.all(askers.map((authorization) => gateway.send(READ('w1'), {}, { authorization })));
    const calls = new Set(askers.map((authorization) => keyOf(authorization))).size;
    await upstream.arrived(calls);
    for (let answered = 0; answered < calls; answered += 1) {
      const [request, connection] = held[answered] ?? [];
      if (request !== undefined) {
        connection?.answer(echo(request));
      }
    }
    const names = (await answers).map(({ body }) => JSON.stringify(body));
    expect(names).toEqual(askers.map((asker) => expect.stringContaining(digestOf(`ApiKey ${keyOf(asker)}`))));
    return upstream.requests.map(({ headers }) => headers.authorization ?? '').toSorted();
  }

  const keyOf = (authorization: string): string =>
    authorization.startsWith('ApiKey ')
      ? authorization.slice('ApiKey '.length)
      : `key-of-${JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()).tenant}`;

  it('are never one call for two tenants, nor for a tenant and a server with another key', async () => {
    const askers = [browser('acme', 'ada'), browser('globex', 'ada'), 'ApiKey key-of-a-server'];
    expect(await callsFor(askers)).toEqual(['ApiKey key-of-a-server', 'ApiKey key-of-acme', 'ApiKey key-of-globex']);
  });

  it('may be one call for two people of a tenant, and for its server', async () => {
    expect(await callsFor([browser('acme', 'ada'), browser('acme', 'bob'), 'ApiKey key-of-acme'])).toEqual([
      'ApiKey key-of-acme',
    ]);
  });
});

describe("a tenant's key and a browser's token", () => {
  const CANARY = 'canary-key-of-the-tenant-71f3e0';
  const SUBJECT = 'canary-subject-5d2a';
  const statuses = [302, 400, 401, 402, 403, 404, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504];

  /** Answers with this status, and quotes what it was sent wherever it can. */
  const quote = (status: number, connection: RawConnection) => {
    const told = `The key ${CANARY} of "ApiKey ${CANARY}" is of no use.`;
    const body = { statusCode: status, message: [told, { message: told }], errorId: CANARY, path: CANARY, stack: told };
    const headers = { location: `/${CANARY}`, 'x-key': CANARY, 'retry-after': CANARY };
    connection.send(rawAnswer({ status, headers, body }).replace('Status', CANARY));
  };

  it('appear in no answer and in nothing that the process prints, whatever the upstream does', async () => {
    const names = [...Object.keys(MISBEHAVIOURS), ...statuses.map(String)];
    await using folder = await createTemporaryFolder();
    await using upstream = await startRawUpstream(({ path, body }, connection) => {
      const name = body === '' ? decodeURIComponent(path.split('/').at(-1) ?? '') : JSON.parse(body).name;
      const [, misbehave] = Object.entries(MISBEHAVIOURS).find(([known]) => known === name) ?? [];
      misbehave === undefined ? quote(Number(name), connection) : misbehave(connection, CANARY);
    });
    const config = {
      audiences: {
        browser: {
          issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256'] }],
          scopes: SCOPES,
          tenants: { acme: { key: { env: 'ACME_KEY' } } },
        },
      },
    };
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', upstream.url, '--graphiql', 'on'],
      env: {
        ACME_KEY: CANARY,
        NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config),
        NOTIGRAPH_ATTEMPT_TIMEOUT_MS: '150',
        NOTIGRAPH_RETRY_BASE_DELAY_MS: '1',
        NOTIGRAPH_RETRY_MAX_DELAY_MS: '1',
        NOTIGRAPH_BREAKER_MINIMUM_CALLS: '1000',
      },
    });
    const token = issuer.sign({ tenant: 'acme', sub: SUBJECT });
    const answers: string[] = [];
    const ask = async (document: string, authorization = `Bearer ${token}`) => {
      const response = await fetch(notigraph.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query: document }),
      });
      const text = await response.text();
      answers.push(JSON.stringify([...response.headers]), text);
      return text;
    };

    await Promise.all(
      names.flatMap((name) => [
        ask(`{ workflow(idOrIdentifier: "${name}") { id name } }`),
        ask(`mutation { createFeed(input: { name: "${name}" }) { __typename ... on MutationError { message } } }`),
      ]),
    );
    const calls = upstream.requests.filter(({ method }) => method !== 'HEAD'); // It looks for the upstream once, without a key.
    expect(calls.length).toBeGreaterThan(names.length);
    expect(calls.every(({ headers }) => headers.authorization === `ApiKey ${CANARY}`)).toBe(true);
    expect(upstream.requests.some(({ head }) => head.includes(SUBJECT) || head.includes(token))).toBe(false);
    for (const refused of [
      `${token}x`,
      issuer.sign({ tenant: SUBJECT }),
      issuer.sign({ tenant: 'acme', sub: SUBJECT, exp: 1 }),
    ]) {
      expect(await ask('{ __typename }', `Bearer ${refused}`)).toContain('UNAUTHENTICATED');
    }
    for (const path of ['/metrics', '/readyz', '/graphql', '/client-tokens', '/notigraph.config.yaml']) {
      const page = await fetch(new URL(path, notigraph.url), { headers: { accept: 'text/html' } });
      answers.push(await page.text());
    }

    const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('{')).length).toBeGreaterThan(names.length);
    const parts = token.split('.').filter((part) => part.length > 40); // The header is nobody's secret.
    for (const text of [...answers, stdout, stderr]) {
      expect([CANARY, SUBJECT, ...parts].filter((secret) => text.includes(secret))).toEqual([]);
    }
  });
});
