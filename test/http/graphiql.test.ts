import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';

guards('packages/cli/src/server/server.ts', 'startServer.admit');
guards('src/http/pipeline/response-head.ts', 'createResponseHeads.corsHeaders');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const gateway = ofFile(await startGateway({ service: 'sandbox', graphiql: true, endpoint: '/api/graphql' }));

describe('the page of GraphiQL', () => {
  it('has security headers, and so have its files', async () => {
    const page = await request(gateway.url, BROWSER);
    const script = await request(fileOf(page.body, 'js'));
    for (const { headers } of [page, script]) {
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("connect-src 'self'");
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    }
  });

  it('is compressed for clients that accept it, and not sent again to clients that have it', async () => {
    const plain = await request(gateway.url, BROWSER);
    expect(plain.status).toBe(200);
    expect(plain.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    expect(plain.headers['content-encoding']).toBeUndefined();

    const zipped = await request(gateway.url, { ...BROWSER, 'accept-encoding': 'gzip, deflate, br' });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' });
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);

    const { etag = '' } = plain.headers;
    const again = await request(gateway.url, { ...BROWSER, 'if-none-match': etag });
    expect(again).toMatchObject({ status: 304, headers: { etag } });
    expect(again.body).toHaveLength(0);
    expect((await request(gateway.url, { ...BROWSER, 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('has files that browsers keep, compressed in advance', async () => {
    const url = fileOf((await request(gateway.url, BROWSER)).body, 'js');
    const plain = await request(url);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    const brotli = await request(url, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotli.body.length).toBeLessThan(1_250_000);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    const gzipped = await request(url, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
  });

  it('is not compressed for hosts of the Fetch API, of which Next.js forgets the encoding', async () => {
    await using own = createGateway({ upstream: 'http://127.0.0.1:9', graphiql: true });
    const headers = { ...BROWSER, 'accept-encoding': 'gzip, deflate, br' };
    const page = await own.fetch(new Request('http://127.0.0.1/graphql', { headers }));
    const text = await page.text();
    expect(text).toMatch(/^<!doctype html>/);
    const [file = ''] = /\?graphiql=[^"]+\.js/.exec(text) ?? [];
    const script = await own.fetch(new Request(`http://127.0.0.1/graphql${file}`, { headers }));
    expect(await script.text()).toContain('function');
    expect([page, script].map((response) => response.headers.get('content-encoding'))).toEqual([null, null]);
  });

  it.each(['main.js', '__proto__', '../manifest.json', ''])('has no file %j', async (name) => {
    const answer = await request(`${gateway.url}?graphiql=${encodeURIComponent(name)}`, BROWSER);
    expect(answer.status).toBe(404);
    expect(String(answer.body)).toContain('Reload the page.');
  });

  it('and its files are also served by fetch, at any prefix of a proxy', async () => {
    await using embedded = createGateway({ upstream: 'http://127.0.0.1:9', graphiql: true, endpoint: '/' });
    const page = await embedded.fetch(new Request('https://example.com/', { headers: BROWSER }));
    const file = fileOf(Buffer.from(await page.arrayBuffer()), 'css', 'https://proxy.example/prefix/graphql');
    expect(file.startsWith('https://proxy.example/prefix/graphql?graphiql=')).toBe(true);
    const style = await embedded.fetch(new Request(`https://example.com/${new URL(file).search}`));
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await style.text()).toContain('.monaco-editor');
  });

  it('does not affect other paths or other clients', async () => {
    expect((await request(`${gateway.url}/more`, BROWSER)).headers['content-type'] ?? '').not.toContain('html');
    for (const accept of ['application/json', 'application/json, text/html;q=0.5']) {
      const headers = { accept, 'graphql-require-preflight': 'true' };
      const query = await request(`${gateway.url}?query={__typename}`, headers);
      expect(JSON.parse(String(query.body))).toEqual({ data: { __typename: 'Query' } });
    }
  });
});

describe('a gateway that sheds load', () => {
  it('answers requests for the page and its files, but no others', async () => {
    const server = { maxInFlightRequests: 1 };
    await using busy = await startGateway({ service: () => ({ body: { data: [] } }), graphiql: true }, { server });
    const held = busy.service.hold(undefined, Infinity);
    const response = busy.send('{ notificationGroups { id } }');
    await held.arrived;
    expect((await busy.send('{ __typename }')).status).toBe(503);
    const page = await request(busy.url, BROWSER);
    expect(page.status).toBe(200);
    for (const ending of ['js', 'css'] as const) {
      expect((await request(fileOf(page.body, ending, busy.url))).status).toBe(200);
    }
    for (const path of ['?query={__typename}', '/more', '?graphiql']) {
      const headers = { ...BROWSER, accept: 'application/json' };
      const expected = path === '?graphiql' ? 404 : 503;
      expect([path, (await request(busy.url + path, headers)).status]).toEqual([path, expected]);
    }
    held.release();
    expect((await response).status).toBe(200);
  });

  it('has no page to answer requests with if GraphiQL is off', async () => {
    await using busy = await startGateway({ upstream: 'http://127.0.0.1:9' }, { server: { maxInFlightRequests: 0 } });
    expect((await request(busy.url, BROWSER)).status).toBe(503);
  });
});

it('a gateway without GraphiQL tells browsers how to turn it on, and nothing about itself', async () => {
  await using closed = await startGateway({ service: 'sandbox', endpoint: '/api/graphql' });
  const { status, headers, body } = await request(closed.url, BROWSER);
  expect(status).toBe(404);
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const text = String(body);
  expect(text).toContain('This is a GraphQL endpoint');
  for (const way of ['--graphiql on', 'NOTIGRAPH_GRAPHIQL=on', 'graphiql: on', 'graphiql: true']) {
    expect(text).toContain(way);
  }
  expect(text).not.toMatch(/\/api\/graphql|127\.0\.0\.1|\d\.\d\.\d|sandbox|<script/);

  const json = await request(closed.url, { accept: '*/*' });
  expect(json.status).toBe(403);
  expect(JSON.parse(String(json.body)).errors[0].extensions.code).toBe('CSRF_REFUSED');
  const file = await request(`${closed.url}?graphiql=main.js`);
  expect(JSON.parse(String(file.body)).errors[0].extensions.code).toBe('CSRF_REFUSED');
});

describe('beside the endpoint', () => {
  it.each([true, false])('a browser gets a link to it, with GraphiQL: %s', async (graphiql) => {
    await using served = await startGateway({ service: () => {}, graphiql, endpoint: '/api/graphql' });
    for (const path of ['/', '/?from=mail', '/api/graphql/']) {
      const { status, headers, body } = await request(new URL(path, served.url).href, BROWSER);
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
      const [, link = ''] = /<a href="([^"]+)">/.exec(String(body)) ?? [];
      expect(new URL(link, new URL(path, served.url)).href).toBe(served.url);
      const proxied = new URL(`/prefix${path}`, served.url); // Of a proxy that removes the prefix.
      expect(new URL(link, proxied).pathname).toBe('/prefix/api/graphql');
    }
    expect([served.log, served.service.requests]).toEqual([[], []]);
  });

  it('a browser gets a link to the endpoint of each upstream', async () => {
    const upstreams = { eu: { url: 'http://127.0.0.1:9', pathPrefix: '/eu' }, us: { url: 'http://127.0.0.1:9' } };
    await using several = await startGateway({ upstreams });
    const linksAt = async (path: string) => {
      const { body } = await request(new URL(path, several.url).href, BROWSER);
      return [...String(body).matchAll(/<a href="([^"]+)">/g)].map(([, link = '']) => link);
    };
    expect(await linksAt('/')).toEqual(['./graphql', './eu/graphql']);
    expect(await linksAt('/eu/graphql/')).toEqual(['../graphql']);
  });

  it.each(['/', '/api/graphql/'])('other clients get the error as before at %s', async (path) => {
    const url = new URL(path, gateway.url).href;
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      const { status, body } = await request(url, { accept });
      expect([accept, status]).toEqual([accept, 404]);
      expect(JSON.parse(String(body)).errors[0].message).toBe('Unknown path. The GraphQL endpoint is /api/graphql.');
    }
    const posted = await fetch(url, { method: 'POST', headers: { ...BROWSER, 'content-type': 'application/json' } });
    expect([posted.status, posted.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
  });

  it('the icon that browsers ask for is no error in the log', async () => {
    await using served = await startGateway({ upstream: 'http://127.0.0.1:9' });
    const { status, headers, body } = await request(new URL('/favicon.ico', served.url).href, { accept: 'image/*' });
    expect([status, headers['cache-control'], body.length]).toEqual([204, 'max-age=86400', 0]);
    expect(served.log).toEqual([]);
    expect((await request(new URL('/favicon.png', served.url).href)).status).toBe(404);
    expect(served.log).toMatchObject([{ code: 'NOT_FOUND' }]);
  });
});

/** Returns the address of the page's script or style, relative to the page. */
function fileOf(page: Buffer, ending: 'js' | 'css', base = gateway.url): string {
  const [, path = ''] = new RegExp(`="(\\?graphiql=[^"]+\\.${ending})"`).exec(String(page)) ?? [];
  return new URL(path, base).href;
}

/** Sends a request and returns the response as it went over the wire. */
async function request(url: string, headers: Record<string, string> = { accept: '*/*' }) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}
