import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { blocks, read } from '../support/docs.ts';
import { runOperation, visitGraphiql } from '../support/graphiql.ts';
import { startNotigraph } from '../support/process.ts';
import { findFreePort } from '../support/redis.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const nginxOnly = hasNginx ? '' : ' (left out: there is no nginx on the PATH)';

const [SERVER = '', LOCATION = ''] = blocks(read('docs/network.md'), 'nginx');

/** Starts nginx with a configuration of the page, in front of a gateway. */
async function startNginx(configuration: string, gatewayUrl: string) {
  const folder = await createTemporaryFolder();
  const port = await findFreePort();
  const adapted = configuration
    .replace('127.0.0.1:4000', new URL(gatewayUrl).host)
    .replace('listen 80;', `listen 127.0.0.1:${port};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = folder.path('nginx.conf');
  await writeFile(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
error_log stderr crit;
pid ${folder.path('nginx.pid')};
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder.path(name)};`).join('\n  ')}
  ${adapted}
}
`,
  );
  const nginx = spawn('nginx', ['-p', folder.path(), '-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(nginx, 'exit');
  await expect.poll(() => isListening(port), { timeout: 10_000 }).toBe(true);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM');
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Requests a page as a browser does. */
const visit = (url: string) => fetch(url, { headers: { accept: 'text/html,*/*' } });

describe.runIf(hasNginx)(`nginx as docs/network.md configures it${nginxOnly}`, () => {
  it('passes on everything, and compresses responses', async () => {
    await using folder = await createTemporaryFolder();
    await using notigraph = await startNotigraph({ cwd: folder.path(), args: ['--sandbox', ':memory:'] });
    await using nginx = await startNginx(SERVER, notigraph.url);
    const answer = await sendOperation(`${nginx.url}/graphql`, '{ notificationGroups { name } }');
    expect(answer).toMatchObject({ data: { notificationGroups: { length: 4 } } });
    const long = await fetch(`${nginx.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${SANDBOX_KEYS.development}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify({ query: '{ __schema { types { name description } } }' }),
    });
    expect([long.status, long.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  });

  it('serves the API, GraphiQL and its files under a path of another site', async () => {
    await using folder = await createTemporaryFolder();
    const args = ['--sandbox', ':memory:', '--endpoint', '/api/graphql'];
    await using notigraph = await startNotigraph({ cwd: folder.path(), args });
    expect(new URL(notigraph.url).pathname).toBe('/api/graphql');
    const configuration = SERVER.replace(/ {2}location \/ \{[^}]*\}\n/, LOCATION);
    expect(configuration).not.toBe(SERVER);
    await using nginx = await startNginx(configuration, notigraph.url);
    const url = `${nginx.url}/api/graphql`;

    const answer = await sendOperation(url, '{ notificationGroups { name } }');
    expect(answer).toMatchObject({ data: { notificationGroups: { length: 4 } } });
    const page = await visit(url);
    expect(page.status).toBe(200);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="([^"]*\?[^"]*)"/g)].map(([, address = '']) => new URL(address, url));
    expect(files.length).toBeGreaterThan(1);
    for (const { href, pathname } of files) {
      const file = await fetch(href);
      expect([pathname, file.status]).toEqual(['/api/graphql', 200]);
      expect(file.headers.get('content-type')).toMatch(/^text\/(?:javascript|css)/);
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    }
    await using browser = await launchBrowser();
    await using visitor = await visitGraphiql(browser, url);
    const request = await runOperation(visitor.page);
    expect([request.url(), (await request.response())?.status(), visitor.problems]).toEqual([url, 200, []]);
    const beside = await visit(`${url}/`);
    const [, link = ''] = /href="([^"]+graphql)"/.exec(await beside.text()) ?? [];
    expect(new URL(link, `${url}/`).href).toBe(url);
    const other = await visit(`${nginx.url}/other`);
    expect([other.status, other.headers.get('x-request-id')]).toEqual([404, null]);
  });
});
