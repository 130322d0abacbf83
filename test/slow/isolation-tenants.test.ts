import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom, digestOf, echoKeyDigest, runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { sampleSize } from '../support/samples.ts';
import { type Connection, type ServiceRequest, startService } from '../support/service.ts';

const AUDIENCE = 'dashboard';
const SCOPES = ['workflows:read', 'groups:read', 'subscribers:read', 'subscribers:write', 'feeds:write'] as const;

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, scope: SCOPES.join(' ') } });
});

afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const READ = (id: string) => `{ workflow(idOrIdentifier: "${id}") { id name } }`;
const LIST = () => '{ notificationGroups { name } }';
const WRITE = () =>
  'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { subscriber { firstName } } } }';

/** Mix of operations, mostly reads of one record. */
const MIX = [READ, READ, READ, READ, READ, LIST, LIST, WRITE];

/** Credential of a client, and the API key that the upstream must receive for it. */
interface Caller {
  authorization: string;
  key: string;
}

interface PairOptions {
  pairs: number;
  keys: Readonly<Record<string, string>>;
  pairOf(pair: number): readonly [Caller, Caller];
  idOf(pair: number): string;
}

/** Sends pairs of the same operation in the same tick. The upstream fails or delays one request in ten. */
async function sendPairs({ pairs, keys, pairOf, idOf }: PairOptions) {
  const random = createRandom(42);
  const requested = new Map<string, number>();

  function serve(request: ServiceRequest, connection: Connection): void {
    const call = `${request.headers.authorization} ${request.method} ${request.path}`;
    requested.set(call, (requested.get(call) ?? 0) + 1);
    const dice = random();
    if (dice < 0.03) {
      connection.answer({ status: 503, body: {} });
    } else if (dice < 0.06) {
      connection.reset();
    } else if (dice < 0.1) {
      setTimeout(() => connection.answer(echoKeyDigest(request)), 5 + 20 * random());
    } else {
      connection.answer(echoKeyDigest(request));
    }
  }

  await using upstream = await startService(serve);
  await using gateway = await startGateway({
    upstream: upstream.url,
    retryBaseDelayMs: 5,
    retryMaxDelayMs: 10,
    clients: {
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

  async function send(document: string, { authorization, key }: Caller): Promise<void> {
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

  await runConcurrently(pairs, 40, (pair) => {
    const document = (MIX[pair % MIX.length] ?? READ)(idOf(pair));
    return Promise.all(pairOf(pair).map((asker) => send(document, asker)));
  });
  await client.close();
  return { crossed, served, requested };
}

const browser = (tenant: string, sub: string) => `Bearer ${issuer.sign({ tenant, sub })}`;

describe('thousands of pairs of the same operation in the same tick', () => {
  it('with tokens of two tenants get the responses of their own tenants', async () => {
    const pairs = sampleSize(600, 4_000);
    const names = Array.from({ length: 48 }, (_, i) => `tenant-${i}`);
    const keys = Object.fromEntries(names.map((name) => [name, `key-of-${name}`]));
    const callers = names.map(
      (name): Caller => ({ authorization: browser(name, 'the same person'), key: `key-of-${name}` }),
    );
    const callerOf = (i: number) => callers[i % callers.length] ?? { authorization: '', key: '' };
    // Every tenth pair uses new tokens.
    const renewed = (pair: number, asker: Caller): Caller =>
      pair % 10 === 0
        ? { ...asker, authorization: browser(asker.key.slice('key-of-'.length), `person ${pair}`) }
        : asker;
    const { crossed, served, requested } = await sendPairs({
      pairs,
      keys,
      pairOf: (pair) => [renewed(pair, callerOf(pair * 7)), renewed(pair, callerOf(pair * 7 + 1))],
      idOf: (pair) => `id-${pair % 3}`,
    });
    expect(crossed).toEqual([]);
    expect(served).toBeGreaterThan(2 * pairs * 0.95);
    const used = new Set([...requested.keys()].map((call) => call.split(' ')[1]));
    expect(used).toEqual(new Set(Object.values(keys)));
  });

  it('with a token and with the API key of a server get their own responses and share no calls', async () => {
    const pairs = sampleSize(400, 2_000);
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
