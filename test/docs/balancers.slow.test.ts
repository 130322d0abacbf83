import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { runOperation, visitGraphiql } from '../support/graphiql.ts';
import { findFreePort } from '../support/listen.ts';
import { startLossyAddress } from '../support/lossy-address.ts';
import { startNotigraph } from '../support/process.ts';
import { findPrograms } from '../support/programs.ts';
import { connectRaw, postHead } from '../support/raw-client.ts';
import { feed } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { startService } from '../support/service.ts';

const { areThere: hasNginx, note: nginxOnly } = findPrograms('nginx');
const { areThere: hasHaproxy, note: haproxyOnly } = findPrograms('haproxy');

const [SERVER = '', LOCATION = ''] = blocks(read('docs/network.md'), 'nginx');

/** Starts nginx with a configuration of the page, in front of a gateway. */
async function startNginx(configuration: string, gatewayUrl: string, otherUrl = gatewayUrl) {
  const folder = await createTemporaryFolder();
  const port = await findFreePort();
  const adapted = configuration
    .replace('127.0.0.1:4000', new URL(gatewayUrl).host)
    .replace('127.0.0.1:4001', new URL(otherUrl).host)
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
  return startBalancer('nginx', ['-p', folder.path(), '-c', file, '-e', 'stderr'], { port, folder });
}

/** Starts HAProxy with the configuration of the page, in front of two gateways. */
async function startHaproxy(gatewayUrl: string, otherUrl: string) {
  const folder = await createTemporaryFolder();
  const port = await findFreePort();
  const [configuration = ''] = blocks(read('docs/network.md'), 'haproxy');
  const file = folder.path('haproxy.cfg');
  await writeFile(
    file,
    configuration
      .replaceAll('127.0.0.1:4000', new URL(gatewayUrl).host)
      .replaceAll('127.0.0.1:4001', new URL(otherUrl).host)
      .replace('bind :80', `bind 127.0.0.1:${port}`),
  );
  return startBalancer('haproxy', ['-db', '-f', file], { port, folder });
}

/** Starts a program, and waits until it listens. */
async function startBalancer(
  program: string,
  args: readonly string[],
  { port, folder }: { port: number; folder: Awaited<ReturnType<typeof createTemporaryFolder>> },
) {
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => isListening(port), { timeout: 10_000 }).toBe(true);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
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
const visit = (url: string, signal: AbortSignal | null = null) =>
  fetch(url, { headers: { accept: 'text/html,*/*' }, signal });

describe.runIf(hasNginx)(`nginx as docs/network.md configures it${nginxOnly}`, () => {
  it('serves the API, with compressed responses, GraphiQL and its files under a path of another site', async () => {
    const args = ['--sandbox', ':memory:', '--endpoint', '/api/graphql'];
    await using notigraph = await startNotigraph({ args });
    expect(new URL(notigraph.url).pathname).toBe('/api/graphql');
    const configuration = SERVER.replace(/ {2}location \/ \{[^}]*\}\n/, LOCATION);
    expect(configuration).not.toBe(SERVER);
    await using nginx = await startNginx(configuration, notigraph.url);
    const url = `${nginx.url}/api/graphql`;

    const answer = await sendOperation(url, '{ notificationGroups { name } }');
    expect(answer).toMatchObject({ data: { notificationGroups: { length: 4 } } });
    const long = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${SANDBOX_KEYS.development}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify({ query: '{ __schema { types { name description } } }' }),
    });
    expect([long.status, long.headers.get('content-encoding')]).toEqual([200, 'gzip']);
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

  it.runIf(process.platform === 'linux')('answers although a machine of a gateway does not', async () => {
    await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'] });
    const port = await findFreePort();
    await using lost = await startLossyAddress('127.0.0.82', port);
    await lost.loseAll();
    await using nginx = await startNginx(SERVER, notigraph.url, `http://127.0.0.82:${port}`);
    for (let i = 0; i < 4; i += 1) {
      // Without its own timeout, nginx waits for a minute.
      const answer = await visit(`${nginx.url}/graphql`, AbortSignal.timeout(20_000));
      expect(answer.status).toBe(200);
    }
    expect(lost.hasLost()).toBe(true);
  });
});

const CREATE_FEED = 'mutation { createFeed(input: { name: "News" }) { ... on CreateFeedSuccess { feed { name } } } }';
const GROUPS = '{ notificationGroups { name } }';

/** Requests at least, during the replacement of both processes. */
const REQUESTS = 1_400;

/** Delay of a shutdown, in which a process that was restarted before becomes ready. */
const DELAY = { NOTIGRAPH_DRAIN_DELAY_MS: '4000' };

/**
 * Restarts two processes behind a balancer under load, one right after the other. With a delay, the second one is stopped as soon as the first one
 * has been started again, as with `systemctl restart`; otherwise once that is ready.
 *
 * @returns how often each outcome occurred, and the writes that were sent
 */
async function restartBoth(
  startInFront: (one: string, two: string) => Promise<AsyncDisposable & { url: string }>,
  env: Readonly<Record<string, string>> = {},
) {
  await using upstream = await startFeeds();
  await using processes = new AsyncDisposableStack();
  const startOn = async (port: number) =>
    processes.use(
      await startNotigraph({ args: ['--upstream', upstream.url], env: { ...env, NODE_ENV: 'production' }, port }),
    );
  const one = await startOn(await findFreePort());
  const two = await startOn(await findFreePort());
  await using balancer = await startInFront(one.url, two.url);
  const pool = new Pool(balancer.url, { connections: 8 });
  onTestFinished(() => pool.destroy());
  const outcomes: Record<string, number> = {};
  let sent = 0;
  let isReplaced = false;
  async function send(): Promise<void> {
    while (sent < REQUESTS || !isReplaced) {
      sent += 1;
      const body = JSON.stringify({ query: sent % 2 === 0 ? GROUPS : CREATE_FEED });
      const headers = { 'content-type': 'application/json', authorization: 'ApiKey key' };
      const outcome = await pool
        .request({ path: '/graphql', method: 'POST', headers, body })
        .then(async ({ statusCode, body: answer }) => `${statusCode} ${/^."\w+/.exec(await answer.text())}`, String);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      await sleep(20);
    }
  }
  const clients = Array.from({ length: 8 }, send);
  const started: ReturnType<typeof startOn>[] = [];
  for (const each of [one, two]) {
    expect(await each.stop('SIGTERM')).toMatchObject({ code: 0 });
    started.push(startOn(Number(new URL(each.url).port)));
    await (env === DELAY ? undefined : started.at(-1));
  }
  const [third, fourth] = await Promise.all(started);
  isReplaced = true;
  await Promise.all(clients);
  expect([third?.url, fourth?.url]).toEqual([one.url, two.url]);
  const writes = upstream.requests.filter(({ method }) => method === 'POST').length;
  return { outcomes, sent, writes };
}

/** Service that lists nothing, and creates feeds. */
const startFeeds = () =>
  startService(({ method }) =>
    method === 'POST' ? { status: 201, body: { data: feed({ name: 'News' }) } } : { body: { data: [] } },
  );

/** Share of the requests without a balancer that may be lost: docs/network.md says which. */
const MAX_LOST = 0.002;

describe('a replacement of all processes under load fails no request, and sends none twice', () => {
  /** Both restarts fail no request, and send none twice. */
  async function expectNoLoss(...args: Parameters<typeof restartBoth>) {
    const { outcomes, sent, writes } = await restartBoth(...args);
    expect(outcomes).toEqual({ '200 {"data': sent });
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(writes).toBe(Math.ceil(sent / 2));
  }
  const startWithPage = (one: string, two: string) => startNginx(SERVER, one, two);

  it.runIf(hasNginx)(`R60: behind nginx, if each new process is ready before the next one is stopped${nginxOnly}`, () =>
    expectNoLoss(startWithPage),
  );

  it.runIf(hasNginx)(`R60: behind nginx, with systemctl restart and a delay of the shutdown${nginxOnly}`, () =>
    expectNoLoss(startWithPage, DELAY),
  );

  it.runIf(hasHaproxy)(`behind HAProxy, with systemctl restart and a delay of the shutdown${haproxyOnly}`, () =>
    expectNoLoss(startHaproxy, DELAY),
  );

  it('without a balancer, up to 0.2 % of the requests of clients that do not notice when their connection is closed', async () => {
    await using upstream = await startFeeds();
    await using processes = new AsyncDisposableStack();
    const env = { NODE_ENV: 'production', NOTIGRAPH_DRAIN_DELAY_MS: '1000' };
    const start = async () => processes.use(await startNotigraph({ args: ['--upstream', upstream.url], env }));
    const old = [await start(), await start(), await start()];
    const addresses = old.map(({ url }) => url); // Of new connections, as with kube-proxy.
    const counts = { read: 0, written: 0, lost: 0 };
    let isReplaced = false;

    /** Sends requests on one connection until a response closes it, after random pauses of 0.7 s on average. */
    async function sendOnConnection(): Promise<void> {
      const client = await connectRaw(addresses[Math.floor(Math.random() * addresses.length)] ?? '');
      for (let answer = ''; !/^connection: close/im.test(answer) && !isReplaced; ) {
        client.socket.pause();
        await sleep(-700 * Math.log(1 - Math.random()));
        client.socket.resume();
        const isWrite = Math.random() < 0.5;
        const body = JSON.stringify({ query: isWrite ? CREATE_FEED : GROUPS });
        const id = `X-Request-Id: ${Math.random()}`;
        await client.send(
          postHead('/graphql', 'Authorization: ApiKey key', id, `Content-Length: ${body.length}`) + body,
        );
        [answer] = await client.receives(
          new RegExp(`HTTP/1.1 200 OK\r\n(?:.+\r\n)*${id}\r\n(?:.+\r\n)*\r\n{"data":.*}$`, 'im'),
        );
        counts[isWrite ? 'written' : 'read'] += 1;
      }
      client.socket.destroy();
    }
    const clients = Array.from({ length: 250 }, async () => {
      while (!isReplaced) {
        await sendOnConnection().catch(() => {
          counts.lost += 1;
        });
      }
    });
    for (const each of old) {
      addresses.push((await start()).url);
      each.signal('SIGTERM');
      await each.printed('stdout', /^Shutting down/m);
      addresses.shift();
    }
    expect(await Promise.all(old.map(({ ended }) => ended))).toMatchObject(Array(3).fill({ code: 0 }));
    isReplaced = true;
    await Promise.all(clients);
    const sent = counts.read + counts.written + counts.lost;
    expect(sent).toBeGreaterThan(REQUESTS);
    expect(counts.lost / sent, JSON.stringify(counts)).toBeLessThanOrEqual(MAX_LOST);
    const writes = upstream.requests.filter(({ method }) => method === 'POST').length;
    expect(writes).toBe(counts.written); // What is lost was never executed, so that it can be repeated.
  });
});

const PAGE = 'https://app.example.com';

/** Starts a gateway whose overload the test sets. */
async function startOverloadable(upstream: string) {
  const state = { isOverloaded: false, failedChecks: 0 };
  const gateway = await startGateway(
    { upstream, clients: { server: { corsOrigins: [PAGE] } } },
    {
      server: {
        overload: { excess: () => (state.isOverloaded ? { reason: 'heap', value: 90, limit: 85 } : undefined) },
        probes: (own) => ({
          ...own,
          async ready() {
            const health = await own.ready();
            state.failedChecks += Number(health.problem !== undefined);
            return health;
          },
        }),
      },
    },
  );
  return { ...gateway, state };
}

describe('while all processes are overloaded, clients get the answer of the gateway', () => {
  /** Sends requests through a balancer, and collects the different answers. */
  async function answersOf({ url }: { url: string }) {
    const answers = new Set<string>();
    for (let i = 0; i < 8; i += 1) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { authorization: 'ApiKey key', 'content-type': 'application/json', origin: PAGE },
        body: JSON.stringify({ query: GROUPS }),
      });
      const { headers } = response;
      const answer = [headers.get('retry-after'), headers.get('access-control-allow-origin'), await response.text()];
      answers.add(`${response.status} ${answer.join(' ')}`);
    }
    return [...answers];
  }

  const DATA = `200  ${PAGE} {"data":{"notificationGroups":[]}}`;
  const SHED = expect.stringMatching(
    `^503 1 ${PAGE} {"errors":.*"code":"OVERLOADED","retryable":true,"retryAfterSeconds":1`,
  );

  it.runIf(hasNginx)(`behind nginx${nginxOnly}`, async () => {
    await using upstream = await startFeeds();
    await using one = await startOverloadable(upstream.url);
    await using two = await startOverloadable(upstream.url);
    await using balancer = await startNginx(SERVER, one.url, two.url);
    expect(await answersOf(balancer)).toEqual([DATA]);
    one.state.isOverloaded = two.state.isOverloaded = true;
    expect(await answersOf(balancer)).toEqual([SHED]);
    one.state.isOverloaded = two.state.isOverloaded = false;
    expect(await answersOf(balancer)).toEqual([DATA]);
  });

  it.runIf(hasHaproxy)(`behind HAProxy, which uses one that is not overloaded${haproxyOnly}`, async () => {
    await using upstream = await startFeeds();
    await using one = await startOverloadable(upstream.url);
    await using two = await startOverloadable(upstream.url);
    await using balancer = await startHaproxy(one.url, two.url);
    /** Waits until the balancer knows that a process is not ready: after two checks. The third one begins later. */
    const noticed = ({ state }: typeof one) =>
      expect.poll(() => state.failedChecks, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(await answersOf(balancer)).toEqual([DATA]);
    one.state.isOverloaded = true;
    await noticed(one);
    expect(await answersOf(balancer)).toEqual([DATA]);
    two.state.isOverloaded = true;
    await noticed(two);
    expect(await answersOf(balancer)).toEqual([SHED]);
    one.state.isOverloaded = two.state.isOverloaded = false;
    await expect.poll(() => answersOf(balancer), { timeout: 20_000 }).toEqual([DATA]);
  });
});
