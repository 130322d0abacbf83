import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { MISBEHAVIORS } from '../support/misbehaviors.ts';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type Connection, formatResponse, startService } from '../support/service.ts';

const AUDIENCE = 'dashboard';
const SCOPES = ['workflows:read', 'groups:read', 'subscribers:read', 'subscribers:write', 'feeds:write'] as const;

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, scope: SCOPES.join(' ') } });
});

afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const STATUSES = [302, 400, 401, 402, 403, 404, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504];

/** Sends a response with this status that contains the key in every place. */
function quote(status: number, key: string, connection: Connection): void {
  const message = `The key ${key} of "ApiKey ${key}" is of no use.`;
  const body = {
    statusCode: status,
    message: [message, { message: message }],
    errorId: key,
    path: key,
    stack: message,
  };
  const headers = { location: `/${key}`, 'x-key': key, 'retry-after': key };
  connection.send(formatResponse({ status, headers, body }).replace('Status', key));
}

/** Starts an upstream that quotes the key. The id or name in a request selects the status or the misbehavior of the response. */
const startQuotingUpstream = (key: string) =>
  startService(({ path, body }, connection) => {
    const name = body === '' ? decodeURIComponent(path.split('/').at(-1) ?? '') : JSON.parse(body).name;
    const [, misbehave] = Object.entries(MISBEHAVIORS).find(([known]) => known === name) ?? [];
    misbehave === undefined ? quote(Number(name), key, connection) : misbehave(connection, key);
  });

const SHORT_TIMEOUTS = {
  NOTIGRAPH_ATTEMPT_TIMEOUT_MS: '150',
  NOTIGRAPH_RETRY_BASE_DELAY_MS: '1',
  NOTIGRAPH_RETRY_MAX_DELAY_MS: '1',
  NOTIGRAPH_BREAKER_MINIMUM_CALLS: '1000',
  NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', // Prevents load shedding on a busy machine.
};

/** Creates a function that sends a document and records the headers and body of the response. */
const createRecordingSender =
  (url: string, answers: string[], ownAuthorization: string) =>
  async (document: string, authorization = ownAuthorization) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query: document }),
    });
    const text = await response.text();
    answers.push(JSON.stringify([...response.headers]), text);
    return text;
  };

describe('a key', () => {
  const CANARY = 'canary-key-71f3e0';

  it('appears in no response and no output of the process, whatever the upstream does with it', async () => {
    const names = [...Object.keys(MISBEHAVIORS), ...STATUSES.map(String), 'refused'];
    await using folder = await createTemporaryFolder();
    await using upstream = await startQuotingUpstream(CANARY);
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', upstream.url],
      env: SHORT_TIMEOUTS,
    });
    const answers: string[] = [];
    const ask = createRecordingSender(notigraph.url, answers, `ApiKey ${CANARY}`);

    const quoted = names.filter((name) => name !== 'refused');
    await Promise.all(
      quoted.flatMap((name) => [
        ask(`{ workflow(idOrIdentifier: "${name}") { id name } }`),
        ask(`mutation { createFeed(input: { name: "${name}" }) { __typename ... on MutationError { message } } }`),
      ]),
    );
    const calls = upstream.requests.filter(({ headers }) => headers.authorization !== undefined); // The gateway checks the upstream once, without a key.
    expect(calls.length).toBeGreaterThan(2 * quoted.length);
    expect(calls.every(({ headers }) => headers.authorization === `ApiKey ${CANARY}`)).toBe(true);
    await upstream.refuse();
    await ask('{ workflow(idOrIdentifier: "refused") { id } }');
    await ask('{');
    await ask('{ nothing }');
    for (const malformed of [CANARY, `Bearer ${CANARY}`, `ApiKey  ${CANARY}`, `ApiKey ${CANARY} ${CANARY}`]) {
      expect(await ask('{ __typename }', malformed)).toContain('UNAUTHENTICATED');
    }

    const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('{')).length).toBeGreaterThan(answers.length / 2);
    for (const text of [...answers, stdout, stderr]) {
      expect(text).not.toContain(CANARY);
    }
  });
});

describe("a tenant's key and a browser's token", () => {
  const CANARY = 'canary-key-of-the-tenant-71f3e0';
  const SUBJECT = 'canary-subject-5d2a';

  it('appear in no response and no output of the process, whatever the upstream does', async () => {
    const names = [...Object.keys(MISBEHAVIORS), ...STATUSES.map(String)];
    await using folder = await createTemporaryFolder();
    await using upstream = await startQuotingUpstream(CANARY);
    const config = {
      clients: {
        browser: {
          issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256'] }],
          scopes: SCOPES,
          tenants: { acme: { env: 'ACME_KEY' } },
        },
      },
    };
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', upstream.url, '--graphiql', 'on'],
      env: {
        ACME_KEY: CANARY,
        NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config),
        ...SHORT_TIMEOUTS,
      },
    });
    const token = issuer.sign({ tenant: 'acme', sub: SUBJECT });
    const answers: string[] = [];
    const ask = createRecordingSender(notigraph.url, answers, `Bearer ${token}`);

    await Promise.all(
      names.flatMap((name) => [
        ask(`{ workflow(idOrIdentifier: "${name}") { id name } }`),
        ask(`mutation { createFeed(input: { name: "${name}" }) { __typename ... on MutationError { message } } }`),
      ]),
    );
    const calls = upstream.requests.filter(({ headers }) => headers.authorization !== undefined); // The gateway checks the upstream once, without a key.
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
    const parts = token.split('.').filter((part) => part.length > 40); // The header of the token is not secret.
    for (const text of [...answers, stdout, stderr]) {
      expect([CANARY, SUBJECT, ...parts].filter((secret) => text.includes(secret))).toEqual([]);
    }
  });
});
