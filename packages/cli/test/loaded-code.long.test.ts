import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { connectAgent } from '../../../test/support/agent.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

/** Prints modules that are loaded after the gateway has received a request. Those of the sandbox have paths that begin with /v1. */
const PRINT_LOADED = `
  import { subscribe } from 'node:diagnostics_channel';
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';

  let isServing = false;
  subscribe('http.server.request.start', ({ request }) => {
    isServing ||= !request.url.startsWith('/v1');
  });
  registerHooks({
    load(url, context, nextLoad) {
      if (isServing) {
        writeSync(2, \`loaded \${url}\\n\`);
      }
      return nextLoad(url, context);
    },
  });
`;

const CONFIG = `
graphiql: true
mcp: {}
clients: { browser: { scopes: [groups:read], tenants: { acme: { env: ACME_KEY } } } }
clientTokens: { secrets: [{ env: SECRET }] }
`;

// The event loop stops while code is loaded: for the package of MCP, long enough to reject other requests.
it('no request loads code', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('print-loaded.mjs'), PRINT_LOADED);
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    args: ['--sandbox', ':memory:'],
    nodeArgs: ['--import', pathToFileURL(folder.path('print-loaded.mjs')).href],
    env: {
      NOTIGRAPH_CONFIG_TEXT: CONFIG,
      ACME_KEY: SANDBOX_KEYS.development,
      SECRET: 'an-obvious-test-secret-of-tokens',
    },
  });
  const post = async (path: string, authorization: string, body: unknown) => {
    const headers = { authorization, 'content-type': 'application/json' };
    return (await fetch(new URL(path, notigraph.url), { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const key = `ApiKey ${SANDBOX_KEYS.development}`;
  const query = '{ notificationGroups { id } }';
  expect(await post('/graphql', key, { query })).toHaveProperty('data.notificationGroups');
  const mutation = 'mutation { createFeed(input: { name: "News" }) { __typename } }';
  expect(await post('/graphql', key, { query: mutation })).toHaveProperty('data.createFeed');
  expect(await post('/graphql', key, { query, extensions: { explain: true } })).toHaveProperty('extensions');
  expect(await post('/graphql', key, { query: '{ nothing }' })).toHaveProperty('errors');
  const { token } = await post('/client-tokens', key, { scopes: ['groups:read'] });
  expect(await post('/graphql', `Bearer ${token}`, { query })).toHaveProperty('data.notificationGroups');
  expect(await (await fetch(notigraph.url, { headers: { accept: 'text/html' } })).text()).toContain('<html');
  await using agent = await connectAgent(notigraph, key);
  expect(await agent.call('NotificationGroups')).toMatchObject({ isError: false });
  expect(await notigraph.stop('SIGKILL')).toMatchObject({ stderr: '' });
});
