import { cp, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { type NotigraphProcess, startNotigraph } from '../support/process.ts';
import { canCopy, copyProject, gitOnly, type ProjectCopy } from '../support/project-copy.ts';
import { sendOperation } from '../support/send-operation.ts';
import { addLayouts } from './add-layouts.ts';

const CONFIG = `
clients:
  browser:
    scopes: [groups:read, layouts:read]
    tenants: { acme: { env: ACME_KEY } }
clientTokens: { secrets: [{ env: CLIENT_TOKEN_SECRET }] }
`;

const CREATE = `mutation {
  createLayout(input: { name: "Makers" }) { __typename ... on ConflictError { reason message } }
}`;

describe.runIf(canCopy)(`the resource layouts, added to a copy of the project with five files${gitOnly}`, () => {
  let copy: ProjectCopy;
  let gateway: NotigraphProcess;

  beforeAll(async () => {
    copy = await copyProject();
    await addLayouts(copy);
    await copy.run('codegen.ts');
    await writeFile(copy.path('notigraph.config.yaml'), CONFIG);
    gateway = await startNotigraph({
      cwd: copy.path(),
      main: copy.path('packages/cli/src/main.ts'),
      args: ['--config', 'notigraph.config.yaml', '--sandbox', 'sandbox.db', '--graphiql', 'on'],
      env: { ACME_KEY: SANDBOX_KEYS.development, CLIENT_TOKEN_SECRET: 'a secret of more than 32 characters' },
    });
  }, 120_000);

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await copy?.[Symbol.asyncDispose]();
  });

  it('needs one run to write all generated files', async () => {
    expect(await copy.run('codegen.ts', '--check')).toBe('');
  });

  it('serves its shipped operation and returns its failures as data', async () => {
    const query = await copy.read('schema/operations/Layouts.graphql');
    expect(await sendOperation(gateway.url, query)).toEqual({
      data: {
        layouts: [
          { id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'Makers' },
          { id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'Newsletter' },
        ],
      },
    });
    expect(await sendOperation(gateway.url, CREATE)).toEqual({
      data: {
        createLayout: {
          __typename: 'ConflictError',
          reason: 'ALREADY_EXISTS',
          message: 'A layout named "Makers" already exists.',
        },
      },
    });
  });

  it('requires its scopes', async () => {
    const query = '{ layouts { name } }';
    expect(await sendOperation(gateway.url, query, {}, await tokenWith('groups:read'))).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN', scope: 'layouts:read' } }],
    });
    const permitted = await tokenWith('layouts:read');
    expect(await sendOperation(gateway.url, query, {}, permitted)).toMatchObject({
      data: { layouts: [{ name: 'Makers' }, { name: 'Newsletter' }] },
    });
    expect(await sendOperation(gateway.url, CREATE, {}, permitted)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN', scope: 'layouts:write' } }],
    });
  });

  async function tokenWith(scope: string): Promise<string> {
    const response = await fetch(new URL('/client-tokens', gateway.url), {
      method: 'POST',
      headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scopes: [scope] }),
    });
    expect(response.status).toBe(200);
    const { token } = await response.json();
    return `Bearer ${token}`;
  }

  it('appears in the typed client, the trusted documents, GraphiQL and the tables of the docs', async () => {
    expect(await copy.read('packages/client/src/documents.gen.ts')).toContain('export const LayoutsDocument = ');
    expect(await copy.read('schema/trusted-documents.json')).toContain('query Layouts {');
    const openPage = () => fetch(gateway.url, { headers: { accept: 'text/html' } });
    const unbuilt = await openPage();
    expect(unbuilt.status).toBe(503);
    expect(await unbuilt.text()).toContain('Run <code>npm run build:graphiql</code>');
    await cp(new URL('../../dist/graphiql', import.meta.url), copy.path('dist/graphiql'), { recursive: true });
    expect(await (await openPage()).text()).toContain('query Layouts {');
    expect(await copy.read('docs/rest-calls.md')).toContain('| `layouts` | `GET /v1/layouts` | 1 |');
    expect(await copy.read('docs/schema.md')).toContain('### createLayout');
    expect(await copy.read('docs/frontend.md')).toContain('| `createLayout` | `layouts:write` | `layouts:read` |');
  });
});
