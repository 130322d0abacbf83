import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { startServing } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { startService } from '../../../test/support/service.ts';

guards('src/graphiql/graphiql.ts', 'createFindPageByHost.mayHaveKey');
guards('packages/cli/src/server/server.ts', 'startServer.admit');

// A page whose host name was given the address of this machine (DNS rebinding) gets nothing.

/** Sends a request with this `Host`. */
async function send(url: string, host: string, headers: Record<string, string>, method = 'GET') {
  const request = httpRequest(url, { method, headers: { host, ...headers } });
  request.end();
  const [response]: IncomingMessage[] = await once(request, 'response');
  return response ?? expect.unreachable();
}

/** Sends a request with this `Host`. @returns its status and body */
async function get(url: string, host: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await send(url, host, headers);
  return [response.statusCode ?? 0, await text(response)];
}

const PAGE = { accept: 'text/html' };
const KEY = 'ApiKey an-obvious-test-key';

/** Starts a gateway with a key in its page, and an admin port. @returns its addresses */
async function start(env: Record<string, string> = {}, args = ['--admin-port', '0']) {
  const service = await startService(() => ({ body: { data: [] } }));
  onTestFinished(() => service[Symbol.asyncDispose]());
  const config = {
    upstreams: { main: { url: service.url, default: true, hosts: ['eu.example.com'] } },
    graphiql: { authorization: { env: 'PAGE_KEY' } },
    hosts: ['graphql.example.com'],
    clients: { server: { corsOrigins: ['https://app.example.com'] } },
  };
  const notigraph = await startServing({
    args,
    env: { NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config), PAGE_KEY: KEY, ...env },
  });
  onTestFinished(() => notigraph[Symbol.asyncDispose]());
  const [, admin = ''] = /Health +(\S+)\/livez/.exec(notigraph.output()) ?? [];
  return { url: notigraph.url, admin };
}

const KNOWN = ['localhost:4000', 'app.localhost', '127.0.0.1', '[::1]:80', 'graphql.example.com:80', 'EU.example.com'];
const QUERY = '?query={__typename}';

it('outside of production, other host names than configured ones and those of this machine get 421', async () => {
  const { url, admin } = await start();
  const api = { 'graphql-require-preflight': 'true' };
  for (const host of KNOWN) {
    expect([host, ...(await get(url + QUERY, host, api))]).toEqual([host, 200, '{"data":{"__typename":"Query"}}']);
    expect([host, await get(url, host, PAGE)]).toEqual([host, [200, expect.stringContaining(KEY)]]);
    expect([host, (await get(`${admin}/config`, host))[0]]).toEqual([host, 200]);
  }
  for (const host of ['attacker.example', 'localhost.attacker.example', '10.0.0.1', 'xlocalhost', 'a b']) {
    for (const [address, headers] of [
      [url + QUERY, api],
      [url, PAGE],
      [new URL('/', url).href, PAGE],
      [`${admin}/config`, {}],
      [`${admin}/metrics`, {}],
    ] as const) {
      const [status, body] = await get(address, host, headers);
      expect([host, address, status, body]).toEqual([host, address, 421, expect.not.stringContaining(KEY)]);
      expect(JSON.parse(body).errors[0].extensions.code).toBe('MISDIRECTED_REQUEST');
    }
  }
});

it('so do health checks and metrics of the same port, except in production', async () => {
  const paths = ['/livez', '/readyz', '/metrics', '/metrics?a=b', '/client-tokens', '/mcp'];
  const statusesOf = (url: string, host: string) =>
    Promise.all(paths.map(async (path) => (await get(new URL(path, url).href, host))[0]));
  const { url } = await start({}, []);
  expect(await statusesOf(url, 'attacker.example')).toEqual(paths.map(() => 421));
  expect(await statusesOf(url, 'graphql.example.com')).toEqual([200, 200, 200, 200, 404, 404]);
  const preflight = await send(new URL('/metrics', url).href, 'attacker.example', {}, 'OPTIONS');
  expect([preflight.statusCode, await text(preflight)]).toEqual([405, expect.not.stringContaining('notigraph_')]);
  const production = await start({ NODE_ENV: 'production' }, []);
  expect(await statusesOf(production.url, 'shop.example')).toEqual([200, 200, 200, 200, 404, 404]);
});

it('in production they are served, for a proxy on this machine, but their page has no key, and the admin port is closed', async () => {
  const { url, admin } = await start({ NODE_ENV: 'production' });
  expect(await get(url + QUERY, 'shop.example', { 'graphql-require-preflight': 'true' })).toEqual([
    200,
    '{"data":{"__typename":"Query"}}',
  ]);
  expect(await get(url, 'shop.example', PAGE)).toEqual([200, expect.not.stringContaining(KEY)]);
  expect(await get(url, 'graphql.example.com', PAGE)).toEqual([200, expect.stringContaining(KEY)]);
  expect((await get(`${admin}/config`, 'shop.example'))[0]).toBe(421);
  expect((await get(`${admin}/config`, 'localhost'))[0]).toBe(200);
});

it('a page of an allowed origin can read that the host name is unknown', async () => {
  const { url } = await start();
  for (const [origin, allowed] of [
    ['https://app.example.com', 'https://app.example.com'],
    ['https://attacker.example', undefined],
  ] as const) {
    const preflight = await send(url, 'attacker.example', { origin }, 'OPTIONS');
    const refusal = await send(url, 'attacker.example', { origin, authorization: KEY });
    const statuses = [preflight, refusal.resume()].map(({ statusCode }) => statusCode);
    expect([origin, statuses]).toEqual([origin, [allowed === undefined ? 405 : 204, 421]]);
    for (const { headers } of [preflight.resume(), refusal]) {
      expect([origin, headers['access-control-allow-origin']]).toEqual([origin, allowed]);
    }
  }
});
