import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { sha256Of } from '../../src/documents/manifest.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { startServing } from '../support/command.ts';
import {
  addTo,
  blocks,
  CLIENT_TOKENS,
  FRONTEND,
  GATEWAY,
  linkPackages,
  load,
  names,
  read,
  rows,
  runCurl,
  startConfigured,
} from '../support/docs.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { createTemporaryFolder, createTestFolder } from '../support/sandbox-files.ts';
import { shippedModules } from '../support/shipped-documents.ts';

const SERVER = read('docs/call-from-a-server.md');
const ERRORS = read('docs/errors.md');

/** API key of the documented tenant. */
const KEY = `ApiKey ${SANDBOX_KEYS.development}`;

let keys: { privateKey: CryptoKey; publicKey: CryptoKey };

beforeAll(async () => {
  keys = await generateKeyPair('ES256');
});

const sign = (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(keys.privateKey);

describe('docs/frontend.md', () => {
  it('its token gives access to its tenant’s data, with its configuration and a published key', async () => {
    const payload = JSON.parse(blocks(FRONTEND, 'json')[0] ?? '');
    const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'ES256' }] };
    const issuer = await listen(createServer((_request, response) => response.end(JSON.stringify(jwks))));
    onTestFinished(() => issuer.close());
    const text = blocks(FRONTEND, 'yaml')[0]?.replace('https://login.example.com/.well-known', issuer.url) ?? '';
    const gateway = await startConfigured(text, () => new Date((payload.iat + 60) * 1000));
    const origin = 'https://app.example.com';
    const { status, body, headers } = await gateway.send(
      'query Workflow { workflow(idOrIdentifier: "payment-failed") { name notificationGroup { name } } }',
      {},
      { authorization: `Bearer ${await sign(payload)}`, headers: { origin } },
    );
    expect({ status, body }).toEqual({
      status: 200,
      body: { data: { workflow: { name: 'Payment failed', notificationGroup: { name: 'Billing' } } } },
    });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('ratelimit-limit')).toBe('120');
    expect(gateway.upstream()[0]?.headers.authorization).toBe(KEY);
  });

  it('every error in its table occurs as documented, without any upstream call', async () => {
    const pem = await exportSPKI(keys.publicKey);
    const common = { audience: 'notifications', tenantClaim: 'tenant' };
    await using gateway = await startGateway({
      service: 'sandbox',
      trustedDocuments: { manifests: [manifest] },
      clients: {
        server: false,
        browser: {
          issuers: [
            { ...common, issuer: 'https://login.example.com', publicKey: pem },
            { ...common, issuer: 'https://gone.example.com', jwks: 'http://127.0.0.1:1/jwks.json' },
          ],
          scopes: ['groups:read'],
          tenants: { acme: SANDBOX_KEYS.development },
          trustedDocuments: 'enforce',
          rateLimit: { calls: 1, perSeconds: 60 },
        },
      },
    });
    const time = Math.floor(Date.now() / 1000);
    const bearer = async (claims: JWTPayload) => {
      const person = {
        iss: 'https://login.example.com',
        aud: 'notifications',
        sub: crypto.randomUUID(),
        tenant: 'acme',
      };
      return `Bearer ${await sign({ ...person, scope: 'groups:read', exp: time + 600, ...claims })}`;
    };
    const id = sha256Of('query NotificationGroups {\n  notificationGroups {\n    id\n    name\n    __typename\n  }\n}');
    const ask = (authorization: string, body: object = { documentId: id }) =>
      fetch(gateway.url, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const attempts: Record<string, () => Promise<Response>> = {
      TOKEN_EXPIRED: async () => ask(await bearer({ exp: time - 60 })),
      TOKEN_INVALID: async () => ask((await bearer({})).replace(/\.[^.]+$/, '.c2lnbmF0dXJl')),
      TOKEN_NOT_YET_VALID: async () => ask(await bearer({ nbf: time + 60 })),
      TOKEN_FOR_ANOTHER: async () => ask(await bearer({ aud: 'another' })),
      TENANT_UNKNOWN: async () => ask(await bearer({ tenant: 'nobody' })),
      CREDENTIAL_MALFORMED: () => ask('Basic bm9ib2R5'),
      CREDENTIAL_NOT_ACCEPTED: () => ask(KEY),
      SIGN_IN_UNAVAILABLE: async () => ask(await bearer({ iss: 'https://gone.example.com' })),
      FORBIDDEN: async () => ask(await bearer({ scope: 'stats:read' })),
      PERSISTED_QUERY_NOT_FOUND: async () => ask(await bearer({}), { documentId: sha256Of('another') }),
      DOCUMENT_NOT_TRUSTED: async () => ask(await bearer({}), { query: '{ notificationGroups { id } }' }),
      RATE_LIMITED: async () => {
        const authorization = await bearer({});
        expect((await ask(authorization)).status).toBe(200);
        gateway.forget();
        return ask(authorization);
      },
    };
    const reasons = rows(ERRORS, /^\| `reason` \|/m).flatMap(([cell]) => names(cell));
    expect(reasons).toHaveLength(7);
    const table = rows(FRONTEND, /^\| status \| `code`/m).flatMap(([status, code = '']) =>
      (code === '`UNAUTHENTICATED`' ? reasons : names(code)).map((name) => ({
        status: Number(status),
        code: names(code),
        name,
      })),
    );
    expect(table.map(({ name }) => name).toSorted()).toEqual(Object.keys(attempts).toSorted());
    for (const { status, code, name } of table) {
      gateway.forget();
      const answer = await attempts[name]?.();
      const [error] = (await answer?.json())?.errors ?? [];
      expect({ name, status: answer?.status }).toEqual({ name, status });
      expect(code).toContain(error.extensions.code);
      expect(error.extensions.reason ?? error.extensions.code).toBe(name);
      expect(gateway.upstream()).toEqual([]);
    }
  });

  it('its curl command gets the documented token, which gives access to the tenant’s data', async () => {
    const gateway = await startConfigured(addTo(CLIENT_TOKENS), () => new Date('2027-01-15T08:00:00Z'));
    const curl = blocks(FRONTEND, 'sh').find((block) => block.startsWith('curl')) ?? '';
    const response = await runCurl(curl, gateway.url.replace('/graphql', ''));
    const answer = await response.json();
    expect(answer).toEqual({ ...JSON.parse(blocks(FRONTEND, 'json')[1] ?? ''), token: expect.stringMatching(/^eyJ/) });
    const data = await gateway.data(
      '{ workflow(idOrIdentifier: "payment-failed") { active } }',
      {},
      { authorization: `Bearer ${answer.token}` },
    );
    expect(data).toEqual({ workflow: { active: true } });
  });

  it('its configuration for development follows a manifest that is rewritten in place', async () => {
    await using folder = await createTemporaryFolder();
    const [config = ''] = blocks(FRONTEND, 'yaml').filter((block) => block.includes('reloadSeconds'));
    const [, file = ''] = /manifests: \[(.+)\]/.exec(config) ?? [];
    const [before, after] = ['query A { notificationGroups { id } }', 'query B { notificationGroups { name } }'];
    const idOf = (text: string) => `sha256:${sha256Of(text)}`;
    await mkdir(join(folder.path(file), '..'), { recursive: true });
    await writeFile(folder.path(file), JSON.stringify({ [idOf(before)]: before }));
    await writeFile(folder.path('notigraph.config.yaml'), config);
    await using notigraph = await startServing({ cwd: folder.path(), args: ['--sandbox', ':memory:'] });
    const ask = async (text: string) => {
      const headers = { authorization: KEY, 'content-type': 'application/json' };
      const body = JSON.stringify({ documentId: idOf(text) });
      const { data, errors } = await (await fetch(notigraph.url, { method: 'POST', headers, body })).json();
      return errors?.[0].extensions.code ?? Object.keys(data);
    };
    expect([await ask(before), await ask(after)]).toEqual([['notificationGroups'], 'PERSISTED_QUERY_NOT_FOUND']);

    const manifest = JSON.stringify({ [idOf(before)]: before, [idOf(after)]: after });
    await writeFile(folder.path(file), manifest.slice(0, 100));
    await notigraph.printed(
      'stdout',
      /"problem":"the manifest [^"]+ cannot be used: it is not JSON.+the previous one stays in use/,
    );
    expect(await ask(before)).toEqual(['notificationGroups']);

    await writeFile(folder.path(file), manifest);
    const [line] = await notigraph.printed('stdout', /^.*"msg":"the trusted documents were reloaded".*$/m);
    expect(JSON.parse(line)).toMatchObject({ level: 'info', documents: 2 });
    expect([await ask(before), await ask(after)]).toEqual([['notificationGroups'], ['notificationGroups']]);
  });
});

describe('the programs of the docs', () => {
  /** Creates a project with the package installed, whose programs send their requests to the gateway. */
  async function createProject(gateway: GatewayWithService) {
    const folder = await createTestFolder();
    await linkPackages(folder.path(), ['graphql']);
    return {
      path: folder.path,
      async start(file: string, program: string) {
        await writeFile(folder.path(file), program.replaceAll(GATEWAY, gateway.url.replace('/graphql', '')));
        const env = { PATH: process.env.PATH, ACME_KEY: SANDBOX_KEYS.development, CLIENT_TOKEN_SECRET: 'x'.repeat(32) };
        const child = spawn(process.execPath, [file], {
          cwd: folder.path(),
          env,
          timeout: 60_000,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        onTestFinished(() => void child.kill());
        return child;
      },
    };
  }

  async function outputOf(child: Awaited<ReturnType<Awaited<ReturnType<typeof createProject>>['start']>>) {
    const printed: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    await once(child, 'close');
    return printed.join('');
  }

  /** Returns the output stated in the comments next to `console.log`. */
  const promised = (program: string) =>
    [...program.matchAll(/console\.log\(.*\); \/\/ (.*)\n/g)].map(([, line]) => `${line}\n`);

  it('the server of docs/frontend.md issues tokens, and its page shows a workflow with one', async () => {
    const gateway = await startConfigured(addTo(`${CLIENT_TOKENS}clients: { browser: { trustedDocuments: enforce } }`));
    const project = await createProject(gateway);
    const [server = ''] = blocks(FRONTEND, 'js');
    const [page = ''] = blocks(FRONTEND, 'ts').filter((block) => block.startsWith('import'));
    const listening = ".listen(0, '127.0.0.1', function () { console.log(this.address().port); });";
    const child = await project.start(
      'server.js',
      `const userOf = async () => ({ id: 'user-4711' });\n${server.replace(".listen(3000, '127.0.0.1');", listening)}`,
    );
    const [port] = await once(child.stdout, 'data');
    const shown = await outputOf(
      await project.start(
        'page.ts',
        page.replace('/notification-token', `http://127.0.0.1:${String(port).trim()}/notification-token`),
      ),
    );
    expect(shown).toBe(promised(page).join(''));
    expect(gateway.log.find(({ msg }) => msg === 'client token')).toMatchObject({
      tenant: 'acme',
      scopes: ['workflows:read', 'groups:read'],
    });
  });

  it('in docs/call-from-a-server.md print the documented output, and its curl command gets the documented response', async () => {
    await using gateway = await startGateway({ service: 'sandbox' });
    const project = await createProject(gateway);
    for (const [i, program] of blocks(SERVER, 'ts').entries()) {
      expect(await outputOf(await project.start(`program-${i}.ts`, program))).toBe(promised(program)[0]);
    }
    const response = await runCurl(blocks(SERVER, 'sh')[0] ?? '', gateway.url.replace('/graphql', ''));
    expect(await response.json()).toEqual(JSON.parse(blocks(SERVER, 'json')[0] ?? ''));
    expect(new Set(gateway.upstream().map(({ headers }) => headers.authorization))).toEqual(new Set([KEY]));
  });

  it('in docs/trigger.md trigger, list and cancel as documented, with one call per field', async () => {
    const page = read('docs/trigger.md');
    expect(load(blocks(page, 'yaml')[0] ?? '').modules).toEqual(SHIPPED_MODULES);
    await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
    const project = await createProject(gateway);
    const countToday = async () =>
      Number(JSON.stringify(await gateway.data('{ notificationStats(days: 1) { count } }')).match(/\d+/)?.[0]);
    const [embedded = '', trigger = '', list = '', ...others] = blocks(page, 'ts');
    expect(others).toEqual([]);
    const imported = [...embedded.matchAll(/^import (\w+) from '(notigraph\/modules\/.+)';$/gm)];
    expect(embedded).toContain(`modules: [${imported.map(([, name]) => name).join(', ')}]`);
    expect(SHIPPED_MODULES).toEqual(expect.arrayContaining(imported.map(([, , name]) => name)));
    const before = await countToday();
    const channels = 3; // Statistics count a notification once per channel of the workflow.
    const again = trigger.replace("idempotencyKey: 'invoice", "idempotencyKey: 'another");
    const keys: string[] = [];
    for (const [i, program] of [trigger, trigger, again].entries()) {
      gateway.forget();
      expect(await outputOf(await project.start(`trigger-${i}.ts`, program))).toBe(promised(program)[0]);
      const [sent, ...more] = gateway.upstream();
      expect([sent?.method, sent?.path, more]).toEqual(['POST', '/v1/events/trigger', []]);
      keys.push(String(sent?.headers['idempotency-key']));
      expect(await countToday()).toBe(before + channels);
    }
    expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 0, 2]);
    const documents = [...page.matchAll(/^```graphql\n([\s\S]*?)^```\n(?:\n```json\n([\s\S]*?)^```)?/gm)];
    expect(documents).toHaveLength(6);
    for (const [, query = '', response] of documents) {
      gateway.forget();
      const explained = await gateway.send(query, {}, { extensions: { explain: true } });
      expect(gateway.upstream()).toEqual([]);
      const { body } = await gateway.send(query);
      const fields = Object.keys(body.data ?? {}).length;
      expect(explained.body.extensions).toMatchObject({ explain: { budget: { min: fields, max: fields } } });
      expect(gateway.upstream()).toHaveLength(fields);
      expect(body).toEqual(
        response === undefined
          ? {
              data: {
                notificationStats: [expect.objectContaining({ count: before + 3 * channels })],
                subscriber: { email: 'ada@example.com' },
              },
            }
          : JSON.parse(response),
      );
    }
    gateway.forget();
    expect(await outputOf(await project.start('list.ts', list))).toBe(promised(list)[0]);
    const pages = gateway.upstream().map(({ path }) => path);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages).toEqual(pages.map((_, i) => `/v1/subscribers?page=${i}&limit=5`));
  });

  it('in docs/embedding.md create a gateway with the documented clients', async () => {
    await using gateway = await startGateway({ service: 'sandbox' });
    const project = await createProject(gateway);
    await mkdir(project.path('manifests'));
    const program = blocks(read('docs/embedding.md'), 'ts').find((block) => block.includes('clients:')) ?? '';
    const whole = `${program}console.log(gateway.endpoint);\nawait gateway.dispose();\n`;
    expect(await outputOf(await project.start('embedding.ts', whole))).toBe('/graphql\n');
  });
});

it('docs/errors.md shows the real error for a missing scope', async () => {
  const documented = JSON.parse(blocks(ERRORS, 'json').find((block) => block.includes('"scope"')) ?? '');
  const clients = {
    browser: {
      issuers: [{ issuer: 'i', audience: 'a', publicKey: await exportSPKI(keys.publicKey), tenant: 't' }],
      tenants: { t: SANDBOX_KEYS.development },
    },
  };
  await using gateway = await startGateway({ service: 'sandbox', clients });
  const token = await sign({ iss: 'i', aud: 'a', exp: Math.floor(Date.now() / 1000) + 60 });
  const { body } = await gateway.send('{ notificationGroups { id } }', {}, { authorization: `Bearer ${token}` });
  expect(body.errors).toEqual([
    { ...documented, extensions: { ...documented.extensions, requestId: expect.any(String) } },
  ]);
});
