import { expect, it } from 'vitest';
import { type ServedCommand, startServing } from '../../../test/support/command.ts';
import { startTestIssuer } from '../../../test/support/issuer.ts';
import { MISBEHAVIORS } from '../../../test/support/misbehaviors.ts';
import { type Connection, formatResponse, startService } from '../../../test/support/service.ts';

const AUDIENCE = 'dashboard';
const SCOPES = ['workflows:read', 'groups:read', 'subscribers:read', 'subscribers:write', 'feeds:write'] as const;

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

/** Starts an upstream that quotes the key that it is called with. The id or name in a request selects the status or the misbehavior of the response. */
const startQuotingUpstream = () =>
  startService(({ path, body, headers }, connection) => {
    const key = headers.authorization?.replace('ApiKey ', '') ?? '';
    const name = body === '' ? decodeURIComponent(path.split('/').at(-1) ?? '') : JSON.parse(body).name;
    const [, misbehave] = Object.entries(MISBEHAVIORS).find(([known]) => known === name) ?? [];
    misbehave === undefined ? quote(Number(name), key, connection) : misbehave(connection, key);
  });

const SHORT_TIMEOUTS = {
  NOTIGRAPH_ATTEMPT_TIMEOUT_MS: '150',
  NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', // Prevents load shedding on a busy machine.
};

/** Key of a server, key of a tenant, and name of a person in a token. */
const [OF_SERVER, OF_TENANT, SUBJECT] = ['canary-key-71f3e0', 'canary-key-of-the-tenant-71f3e0', 'canary-subject-5d2a'];

it("a server's key, a tenant's key and a browser's token appear in no response and no output of the process, whatever the upstream does", async () => {
  await using issuer = await startTestIssuer({ claims: { aud: AUDIENCE, scope: SCOPES.join(' ') } });
  await using upstream = await startQuotingUpstream();
  const browser = {
    issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256'] }],
    scopes: SCOPES,
    tenants: { acme: { env: 'ACME_KEY' } },
  };
  const start = () =>
    startServing({
      args: ['--upstream', upstream.url, '--graphiql', 'on'],
      env: { ACME_KEY: OF_TENANT, NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ clients: { browser } }), ...SHORT_TIMEOUTS },
    });
  const answers: string[] = [];
  const printed: string[] = [];
  const ask = async ({ url }: ServedCommand, document: string, authorization: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query: document }),
    });
    const text = await response.text();
    answers.push(JSON.stringify([...response.headers]), text);
    return text;
  };
  const token = issuer.sign({ tenant: 'acme', sub: SUBJECT });
  const credentials = [`ApiKey ${OF_SERVER}`, `Bearer ${token}`];
  const names = [...Object.keys(MISBEHAVIORS), ...STATUSES.map(String)];

  const stop = async (notigraph: ServedCommand) => {
    const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
    expect(code).toBe(0);
    printed.push(stdout, stderr);
  };

  // Each gateway makes too few calls for its circuit breaker to open.
  for (let first = 0; first < names.length; first += 8) {
    const serving: [name: string, ServedCommand][] = [];
    for (const name of names.slice(first, first + 8)) {
      serving.push([name, await start()]);
    }
    await Promise.all(
      serving.map(async ([name, notigraph]) => {
        const documents = [
          `{ workflow(idOrIdentifier: "${name}") { id name } }`,
          `mutation { createFeed(input: { name: "${name}" }) { __typename ... on MutationError { message } } }`,
        ];
        await Promise.all(
          credentials.flatMap((credential) => documents.map((document) => ask(notigraph, document, credential))),
        );
        await stop(notigraph);
      }),
    );
  }
  for (const key of [OF_SERVER, OF_TENANT]) {
    const calls = upstream.requests.filter(({ headers }) => headers.authorization === `ApiKey ${key}`);
    expect(calls.length).toBeGreaterThan(2 * names.length);
  }
  expect(upstream.requests.some(({ head }) => head.includes(SUBJECT) || head.includes(token))).toBe(false);
  const known = [undefined, `ApiKey ${OF_SERVER}`, `ApiKey ${OF_TENANT}`]; // A gateway checks the upstream once, without a key.
  expect(upstream.requests.filter(({ headers }) => !known.includes(headers.authorization))).toEqual([]);

  await using notigraph = await start();
  await upstream.refuse();
  for (const credential of credentials) {
    await ask(notigraph, '{ workflow(idOrIdentifier: "refused") { id } }', credential);
    await ask(notigraph, '{', credential);
    await ask(notigraph, '{ nothing }', credential);
  }
  for (const refused of [
    ...[OF_SERVER, `Bearer ${OF_SERVER}`, `ApiKey  ${OF_SERVER}`, `ApiKey ${OF_SERVER} ${OF_SERVER}`],
    `Bearer ${token}x`,
    `Bearer ${issuer.sign({ tenant: SUBJECT })}`,
    `Bearer ${issuer.sign({ tenant: 'acme', sub: SUBJECT, exp: 1 })}`,
  ]) {
    expect(await ask(notigraph, '{ __typename }', refused)).toContain('UNAUTHENTICATED');
  }
  for (const path of ['/metrics', '/readyz', '/graphql', '/client-tokens', '/notigraph.config.yaml']) {
    const page = await fetch(new URL(path, notigraph.url), { headers: { accept: 'text/html' } });
    answers.push(await page.text());
  }

  await stop(notigraph);
  expect(
    printed
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{')).length,
  ).toBeGreaterThan(2 * names.length);
  const parts = token.split('.').filter((part) => part.length > 40); // The header of the token is not secret.
  for (const text of [...answers, ...printed]) {
    expect([OF_SERVER, OF_TENANT, SUBJECT, ...parts].filter((secret) => text.includes(secret))).toEqual([]);
  }
});
