import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AudiencesOptions } from '../src/audiences/audience-options.ts';
import { createGateway } from '../src/gateway.ts';
import { startServer } from '../src/server.ts';
import { runNotigraph, startNotigraph } from './support/process.ts';
import { createTemporaryFolder } from './support/sandbox-files.ts';
import { startScriptedUpstream } from './support/scripted-upstream.ts';

const GROUPS = { query: '{ notificationGroups { name } }' };
const KEY = 'ApiKey key-of-the-sandbox';

interface Setting {
  audiences?: AudiencesOptions;
  /** Where requests seem to come from. */
  remoteAddress?: string;
}

/** The same gateway twice, for this machine: everything compiled, and nothing. */
async function start({ audiences = { local: { authorization: KEY } }, remoteAddress }: Setting = {}) {
  const upstream = await startScriptedUpstream(() => ({ body: { data: [] } }));
  const urls: string[] = [];
  for (const compileAfter of [0, 1_000_000]) {
    const gateway = createGateway(
      { upstream: upstream.url, audiences, compileAfter },
      { logger: pino({ level: 'silent' }) },
    );
    const listener = (...[request, response]: Parameters<typeof gateway.listener>) => {
      if (remoteAddress !== undefined) {
        Object.defineProperty(request.socket, 'remoteAddress', { value: remoteAddress, configurable: true });
      }
      gateway.listener(request, response);
    };
    const server = await startServer({ host: '127.0.0.1', port: 0, listener });
    urls.push(server.url + gateway.endpoint);
    onTestFinished(async () => {
      await server.close();
      await gateway.dispose();
    });
  }
  onTestFinished(() => upstream[Symbol.asyncDispose]());

  /** Asks both, with these headers besides the usual ones. */
  async function ask(headers: Record<string, string> = {}, body: object | string = GROUPS) {
    const answers = [];
    for (const url of urls) {
      const before = upstream.requests.length;
      const { status, body: answer } = await post(url, headers, typeof body === 'string' ? body : JSON.stringify(body));
      const keys = upstream.requests.slice(before).map(({ headers: { authorization } }) => authorization);
      answers.push({ status, keys, codes: (answer.errors ?? []).map(({ extensions }) => extensions.code) });
    }
    expect(answers[0]).toEqual(answers[1]);
    return answers[0];
  }
  return { urls, upstream, ask };
}

interface Answer {
  data?: unknown;
  errors?: { extensions: { code: string } }[];
}

async function post(url: string, headers: Record<string, string>, body: string) {
  const request = sendRequest(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  });
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  const answer: Answer = JSON.parse(response === undefined ? '' : await text(response));
  return { status: response?.statusCode, body: answer };
}

const SERVED = { status: 200, keys: [KEY], codes: [] };
const ANONYMOUS = { status: 200, keys: [], codes: ['UNAUTHENTICATED'] };

describe('a request without a credential', () => {
  it("from this machine is served with the sandbox's key", async () => {
    const { ask } = await start();
    expect(await ask()).toEqual(SERVED);
  });

  it.each(['localhost', 'LOCALHOST:4000', '127.0.0.1:1', '127.8.9.10', '[::1]:4000'])(
    'is served at the name %s of this machine',
    async (host) => {
      const { ask } = await start();
      expect(await ask({ host })).toEqual(SERVED);
    },
  );

  it.each([
    'evil.example',
    'evil.example:4000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '0.0.0.0:4000',
    '192.168.1.7',
    '2130706433',
  ])('is not served at the name %j, to which a page elsewhere may have led it (DNS rebinding)', async (host) => {
    const { ask } = await start();
    expect(await ask({ host })).toEqual(ANONYMOUS);
  });

  it('is not served without a name, with two, or with one that is none', async () => {
    const { urls, upstream } = await start();
    const names = ['', 'Host:', 'Host: evil.example\r\nHost: localhost'];
    const odd = [
      'localhost@evil.example',
      '::1',
      '[::1].evil.example',
      'evil.example, localhost',
      'evil.example#localhost',
      'a/localhost',
      'local host',
    ];
    const body = JSON.stringify(GROUPS);
    for (const url of urls) {
      for (const name of [...names, ...odd.map((host) => `Host: ${host}`)]) {
        const head = [name, 'Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
        const lines = ['POST /graphql HTTP/1.0', ...head.filter((line) => line !== ''), '', body];
        expect([name, await sendBytes(url, lines.join('\r\n'))]).toEqual([name, expect.stringMatching(/^HTTP\/1\.1 /)]);
      }
    }
    expect(upstream.requests).toEqual([]);
  });

  it.each(['x-forwarded-for', 'forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'])(
    'is not served when a proxy has passed it on, by its header %s',
    async (header) => {
      const { ask } = await start();
      for (const value of ['203.0.113.7', '127.0.0.1', 'localhost', '']) {
        expect(await ask({ [header]: value })).toEqual(ANONYMOUS);
      }
    },
  );

  it.each(['203.0.113.7', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '1127.0.0.1', ''])(
    'is not served when it comes from %j',
    async (remoteAddress) => {
      const { ask } = await start({ remoteAddress });
      expect(await ask({ host: 'localhost' })).toEqual(ANONYMOUS);
    },
  );

  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])(
    'is served when it comes from %s',
    async (remoteAddress) => {
      const { ask } = await start({ remoteAddress });
      expect(await ask({ host: 'localhost' })).toEqual(SERVED);
    },
  );

  it('is nothing special where local requests are not served', async () => {
    const { ask } = await start({ audiences: {} });
    expect(await ask()).toEqual(ANONYMOUS);
  });

  it('is not served when a page has sent it that is not on the list of this machine', async () => {
    const app = 'https://app.example.com';
    const local = { authorization: KEY, corsOrigins: ['http://localhost:5173'] };
    const { ask } = await start({ audiences: { server: { corsOrigins: [app] }, local } });
    for (const origin of [
      app,
      'https://evil.example',
      'null',
      'http://localhost:9',
      'http://localhost:5173.evil.example',
    ]) {
      expect(await ask({ origin, host: 'localhost:4000' })).toEqual(ANONYMOUS);
    }
    for (const origin of ['http://localhost:5173', 'http://localhost:4000']) {
      expect(await ask({ origin, host: 'localhost:4000' })).toEqual(SERVED);
    }
  });

  it('that a page elsewhere can send without asking is refused', async () => {
    const { ask, urls, upstream } = await start();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
      expect(await ask({ 'content-type': type, origin: 'https://evil.example' })).toMatchObject({ status: 415 });
    }
    for (const url of urls) {
      const { status } = await fetch(`${url}?query={notificationGroups{name}}`);
      expect(status).toBe(403);
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('a request from this machine with a credential', () => {
  it.each(['', ' ', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'ApiKey', 'ApiKey  x', 'Basic YTpi', 'x'])(
    'that cannot be read, such as %j, is refused, not served without it',
    async (authorization) => {
      const { ask } = await start();
      expect(await ask({ authorization })).toEqual({ status: 401, keys: [], codes: ['UNAUTHENTICATED'] });
    },
  );

  it('is served with that one', async () => {
    const { ask } = await start();
    expect(await ask({ authorization: 'ApiKey another' })).toEqual({
      status: 200,
      keys: ['ApiKey another'],
      codes: [],
    });
  });
});

describe('a process that is to serve this machine', () => {
  const CONFIG = 'audiences:\n  server: off\n  local: on\n';

  it('does so with the sandbox, on the loopback', async () => {
    await using folder = await createTemporaryFolder();
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--sandbox', ':memory:'],
      env: { NOTIGRAPH_CONFIG_TEXT: CONFIG },
    });
    const { body } = await post(notigraph.url, {}, JSON.stringify(GROUPS));
    expect(body).toMatchObject({ data: { notificationGroups: { length: 4 } } });
    const rebound = await post(notigraph.url, { host: 'evil.example' }, JSON.stringify(GROUPS));
    expect(rebound.body).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });

  it.each([
    ['an upstream', ['--upstream', 'http://127.0.0.1:1'], /sandbox/],
    ['all addresses', ['--sandbox', ':memory:', '--host', '0.0.0.0'], /only this machine reaches/],
    ['another host', ['--sandbox', ':memory:', '--host', 'gateway.internal'], /only this machine reaches/],
  ])('refuses to start with %s', async (_, args, problem) => {
    await using folder = await createTemporaryFolder();
    const ending = await runNotigraph({ cwd: folder.path(), args, env: { NOTIGRAPH_CONFIG_TEXT: CONFIG } });
    expect(ending).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(problem) });
    expect(ending.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

/** Sends bytes, and reads everything that comes back. */
async function sendBytes(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
