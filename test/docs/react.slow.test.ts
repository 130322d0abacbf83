import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Request as PageRequest } from 'playwright-core';
import { createElement, type ReactElement, type ReactNode, Suspense } from 'react';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { visit } from '../support/dashboard.ts';
import { addTo, CLIENT_TOKENS, linkPackages, load, ROOT } from '../support/docs.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { writeReactApp } from '../support/react-app.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const KEY = SANDBOX_KEYS.development;

/** Clients of the page, each with a server component of this name. */
const CLIENTS = ['query', 'urql', 'apollo'] as const;

type ClientName = (typeof CLIENTS)[number];

type ServerComponent = (props: { params: Promise<{ id: string }> }) => Promise<ReactElement<{ state?: unknown }>>;

/** Exports of the built server. */
interface ServerModule {
  workflows: ServerComponent;
  pages: Record<ClientName, ServerComponent>;
  TREES: Record<ClientName | 'feeds' | 'bell', (state: unknown, id: string) => ReactNode>;
  POST(request: Request): Promise<Response>;
}

/** Files that do for the app what Next.js does. */
const RENDERING: Record<string, string> = {
  'trees.tsx': `
    import { HydrationBoundary } from '@tanstack/react-query';
    import { createClient } from 'notigraph/client';
    import type { ReactNode } from 'react';
    import { createFeed, type FormState } from '@/lib/create-feed';
    import { Bell, useForget } from '@/components/bell';
    import { FeedForm } from '@/components/feed-form';
    import { ApolloApp, ApolloWorkflow } from '@/components/apollo-workflow';
    import { QueryApp, QueryWorkflow } from '@/components/query-workflow';
    import { UrqlApp, UrqlWorkflow } from '@/components/urql-workflow';

    const callGateway = (_state: FormState, form: FormData) => {
      const { url, authorization } = JSON.parse(document.getElementById('state')?.textContent ?? '');
      return createFeed(createClient({ url, authorization }), form);
    };

    const SignOut = () => <button type="button" onClick={useForget()}>Sign out</button>;

    export const TREES: Record<string, (state: object, id: string) => ReactNode> = {
      query: (state, id) => (
        <QueryApp>
          <HydrationBoundary state={state as never}>
            <QueryWorkflow id={id} />
          </HydrationBoundary>
        </QueryApp>
      ),
      urql: (state, id) => <UrqlApp state={state as never}><UrqlWorkflow id={id} /></UrqlApp>,
      bell: (_state, user) => <QueryApp>{user === 'nobody' ? null : <Bell user={user} />}<SignOut /></QueryApp>,
      feeds: () => <FeedForm action={callGateway} />,
      apollo: (state, id) => <ApolloApp state={state as never}><ApolloWorkflow id={id} /></ApolloApp>,
    };
  `,
  'server.tsx': `
    import apollo from '@/app/apollo/[id]/page';
    import query from '@/app/query/[id]/page';
    import urql from '@/app/urql/[id]/page';

    export { POST } from '@/app/notification-token/route';
    export { default as workflows } from '@/app/workflows/[id]/page';
    export { TREES } from './trees';
    export const pages = { apollo, query, urql };
  `,
  'client.tsx': `
    import { StrictMode } from 'react';
    import { hydrateRoot } from 'react-dom/client';
    import { TREES } from './trees';

    const [, name = '', first = ''] = location.pathname.split('/');
    const state = JSON.parse(document.getElementById('state')?.textContent ?? '');
    const tree = (id: string) => <StrictMode>{TREES[name]?.(state, id)}</StrictMode>;
    const root = hydrateRoot(document.getElementById('root') as HTMLElement, tree(first));
    Object.assign(globalThis, { show: (id: string) => root.render(tree(id)) });
  `,
};

/** Serves the app as Next.js would: pages with the state of their server components, the route handler, and the browser's file. */
function serveApp(server: ServerModule, script: string): RequestListener {
  const respond: RequestListener = async (request, response) => {
    const [, name = '', id = ''] = (request.url ?? '').split('/');
    if (request.method === 'POST' && name === 'notification-token') {
      const answer = await server.POST(new Request('http://app/', { method: 'POST', headers: readHeaders(request) }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      return;
    }
    if (name === 'feeds') {
      const state = { url: gateway.url, authorization: `Bearer ${await createToken(['feeds:read', 'feeds:write'])}` };
      sendPage(response, server.TREES.feeds({}, ''), JSON.stringify(state));
      return;
    }
    if (name === 'bell') {
      sendPage(response, server.TREES.bell({}, id), '{}');
      return;
    }
    const client = CLIENTS.find((candidate) => candidate === name);
    if (client === undefined) {
      const isScript = name === 'client.js';
      response.writeHead(isScript ? 200 : 404, { 'content-type': 'text/javascript' }).end(isScript ? script : '');
      return;
    }
    const element = await server.pages[client]({ params: Promise.resolve({ id }) });
    const state = JSON.stringify(element.props.state);
    sendPage(response, server.TREES[client](JSON.parse(state), id), state);
  };
  return respond;
}

function sendPage(response: ServerResponse, tree: ReactNode, state: string): void {
  response.writeHead(200, {
    'content-type': 'text/html',
    'set-cookie': 'session=1; Path=/; HttpOnly; SameSite=Strict',
  });
  response.end(
    `<!doctype html><link rel="icon" href="data:,"><div id="root">${renderToString(tree)}</div>
     <script id="state" type="application/json">${state.replaceAll('<', '\\u003c')}</script>
     <script type="module" src="/client.js"></script>`,
  );
}

async function createToken(scopes: readonly string[]): Promise<string> {
  const answer = await fetch(gateway.url.replace('/graphql', '/client-tokens'), {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes, subject: 'user-4711' }),
  });
  return String((await answer.json()).token);
}

const readHeaders = ({ headers: { cookie } }: IncomingMessage): Record<string, string> =>
  cookie === undefined ? {} : { cookie };

const stack = new AsyncDisposableStack();
let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let gateway: GatewayWithService;
let server: ServerModule;
let script: string;
let browser: Browser;
let app: { url: string };
let serve: RequestListener = () => {};

beforeAll(async () => {
  browser = await launchBrowser();
  stack.defer(() => browser.close());
  const listening = await listen(createServer((request, response) => serve(request, response)));
  stack.defer(listening.close);
  app = listening;
  const text = addTo(
    `${CLIENT_TOKENS}modules: [notigraph/modules/inbox]\nclients: { browser: { corsOrigins: ['${app.url}'], scopes: [workflows:read, groups:read, feeds:read, feeds:write, inbox:read, inbox:write] } }`,
  );
  const { clients, clientTokens } = load(text, { ACME_KEY: KEY });
  gateway = stack.use(
    await startGateway({
      service: 'sandbox',
      modules: [events, inbox],
      clients,
      ...(clientTokens && { clientTokens }),
    }),
  );

  folder = stack.use(await createTemporaryFolder());
  const names = ['@apollo', '@tanstack', '@types', '@urql', 'graphql', 'react', 'react-dom', 'rxjs', 'urql'];
  await linkPackages(folder.path(), names);
  await mkdir(folder.path('node_modules', 'server-only'));
  await writeFile(folder.path('node_modules', 'server-only', 'index.js'), ''); // As in a server component.
  await writeReactApp(folder.path(), gateway.url, RENDERING);

  const common = {
    root: folder.path(),
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { '@': folder.path() } },
  } as const;
  const output = { entryFileNames: '[name].js' };
  await build({
    ...common,
    define: { 'process.env.ACME_KEY': JSON.stringify(KEY) },
    ssr: { noExternal: true, external: ['react', 'react-dom'] },
    build: { ssr: folder.path('server.tsx'), outDir: 'out', minify: false, rolldownOptions: { output } },
  });
  await build({
    ...common,
    build: { outDir: 'public', rolldownOptions: { input: folder.path('client.tsx'), output } },
  });
  server = await import(pathToFileURL(folder.path('out', 'server.js')).href);
  script = await readFile(folder.path('public', 'client.js'), 'utf8');
  serve = serveApp(server, script);
});

afterAll(() => stack.disposeAsync());

it('the code of docs/react.md has no type errors', async () => {
  const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const result = await promisify(execFile)(process.execPath, [compiler, '-p', folder.path()]).catch(String);
  expect(result).toEqual({ stdout: '', stderr: '' });
});

it('its server component streams a fallback, then the data, with the API key and without a cache', async () => {
  gateway.forget();
  const { workflows: Workflows } = server;
  const page = createElement(
    'main',
    null,
    createElement(
      Suspense,
      { fallback: 'Loading…' },
      createElement(Workflows, { params: Promise.resolve({ id: 'payment-failed' }) }),
    ),
  );
  const chunks: string[] = [];
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const { pipe } = renderToPipeableStream(page, { onShellReady: () => pipe(stream) });
  await once(stream, 'end');
  expect(chunks[0]).toContain('Loading…');
  expect(chunks[0]).not.toContain('Payment failed');
  expect(chunks.join('')).toContain('<h1>Payment failed</h1>');
  expect(chunks.join('')).not.toContain(KEY);
  expect(gateway.upstream()[0]?.headers.authorization).toBe(`ApiKey ${KEY}`);
  await expect(Workflows({ params: Promise.resolve({ id: '' }) })).rejects.toThrow(/\w/);
});

it('its route handler gives tokens only to signed-in users, and lets no cache store them', async () => {
  const ask = (headers: Record<string, string>) =>
    server.POST(new Request(`${app.url}/notification-token`, { method: 'POST', headers }));
  expect((await ask({})).status).toBe(401);
  const answer = await ask({ cookie: 'session=1' });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await answer.json()).toMatchObject({
    tenant: 'acme',
    scopes: ['workflows:read', 'groups:read', 'inbox:read', 'inbox:write'],
  });
});

it.each(CLIENTS)('with %s, the page starts with the data of the server, and loads more with a token', async (name) => {
  const state = (await server.pages[name]({ params: Promise.resolve({ id: 'payment-failed' }) })).props.state;
  expect(state).toEqual(expect.any(Object));
  expect(findSpecialObjects(state)).toEqual([]);

  const html = await (await fetch(`${app.url}/${name}/payment-failed`)).text();
  expect(html).toContain('<h1>Payment failed</h1>');
  expect(html).not.toContain(KEY);

  gateway.forget();
  await using visitor = await visit(browser, `${app.url}/${name}/payment-failed`);
  const { page } = visitor;
  const sent = () => visitor.requests.filter((request) => request.url() === gateway.url && request.method() === 'POST');
  const tokens = () => visitor.requests.filter((request) => request.url().endsWith('/notification-token'));
  await page.waitForFunction('globalThis.show');
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 0)).then(() => show('weekly-digest'))");
  await page.getByRole('heading', { name: 'Weekly digest' }).waitFor();
  expect(sent().map((request) => request.postDataJSON().variables)).toEqual([{ idOrIdentifier: 'weekly-digest' }]);
  expect(await sent()[0]?.headerValue('authorization')).toMatch(/^Bearer eyJ/);
  expect(tokens()).toHaveLength(1);
  expect(visitor.problems).toEqual([]);
  await page.evaluate("show('payment-failed')");
  await page.getByRole('heading', { name: 'Payment failed' }).waitFor();
  expect(sent()).toHaveLength(1);

  const held = Promise.withResolvers<void>();
  await page.route(gateway.url, (route) => held.promise.then(() => route.continue()).catch(() => {})); // It may be canceled.
  await Promise.all([page.waitForRequest(gateway.url), page.evaluate("show('order-shipped')")]);
  const abandoned = name === 'apollo' ? page.waitForEvent('requestfinished') : page.waitForEvent('requestfailed');
  await page.evaluate("show('payment-failed')");
  if (name === 'apollo') {
    held.resolve();
  }
  expect((await abandoned).postDataJSON().variables).toEqual({ idOrIdentifier: 'order-shipped' });
  held.resolve();
  expect(await page.getByRole('heading').textContent()).toBe('Payment failed');
  await page.evaluate("show('order-shipped')");
  await page.getByRole('heading', { name: 'Order shipped' }).waitFor();
  expect(sent()).toHaveLength(name === 'apollo' ? 2 : 3); // Apollo Client has the result in its cache.
});

it('its form creates a feed from the browser, and shows that its name is taken', async () => {
  gateway.forget();
  await using visitor = await visit(browser, `${app.url}/feeds`);
  const { page } = visitor;
  await page.waitForFunction('globalThis.show');
  const field = page.getByRole('textbox', { name: 'Name' });
  const submit = async () => {
    await field.fill('Offers');
    await page.getByRole('button', { name: 'Create' }).click();
  };
  await submit();
  await expect.poll(() => field.inputValue()).toBe('');
  await submit();
  await page.getByText('A feed named "Offers" already exists.').waitFor();
  expect(await field.inputValue()).toBe('Offers');
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(gateway.upstream('POST /v1/feeds')).toHaveLength(2);
  const calls = visitor.requests.filter((request) => request.url() === gateway.url && request.method() === 'POST');
  expect(calls).toHaveLength(2);
});

it('its bell counts what is new every 30 seconds while the page is shown, and again after a message was marked as read', async () => {
  const trigger = (transactionId: string) =>
    gateway.data(
      `mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { ... on TriggerEventSuccess { event { isProcessed } } } }`,
      {
        event: {
          workflow: 'comment-mention',
          subscriberIds: ['user-4711'],
          transactionId,
          payload: { authorName: transactionId },
        },
      },
    );
  expect(await trigger('bell-1')).toEqual({ triggerEvent: { event: { isProcessed: true } } });
  await using visitor = await visit(browser, `${app.url}/bell/user-4711`);
  const { page } = visitor;
  const badge = page.getByRole('status').first();
  await page.clock.install();
  await page.reload();
  await page.getByText('1 new').waitFor();
  gateway.forget();
  const isCount = (request: PageRequest) => request.postData()?.includes('UnseenMessages') ?? false;
  const before = visitor.requests.filter(isCount).length;
  const counts = async () => {
    await page.evaluate('fetch("/client.js").then(() => {})'); // What the page has sent before is known now.
    return visitor.requests.filter(isCount).length - before;
  };
  await trigger('bell-2');
  await page.clock.runFor(20_000);
  expect(await counts()).toBe(0);
  await page.clock.runFor(10_000);
  await page.getByText('2 new').waitFor();
  expect(await counts()).toBe(1);

  const setVisibility = (state: DocumentVisibilityState) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }, state);
  await setVisibility('hidden');
  await page.clock.runFor(300_000);
  expect(await counts()).toBe(1);
  await setVisibility('visible');
  await expect.poll(counts).toBe(2);

  await page.getByRole('button', { name: 'Notifications' }).click();
  const buttons = page.getByRole('button', { name: 'Mark as read' });
  await expect.poll(() => buttons.count()).toBe(2);
  await trigger('bell-3');
  await page.clock.runFor(30_000); // The open list shows it.
  await expect.poll(() => buttons.count()).toBe(3);
  await page.getByText('bell-3 mentioned you').waitFor();
  await page.getByRole('button', { name: 'Mark as read: bell-3' }).click();
  await expect.poll(() => buttons.count()).toBe(2);
  gateway.forget();
  await buttons.first().click();
  await page.getByText('1 new').waitFor();
  await expect.poll(() => buttons.count()).toBe(1);
  expect(gateway.upstream('POST ').map(({ path }) => path)).toEqual(['/v1/subscribers/user-4711/messages/mark-as']);
  await buttons.click();
  await expect.poll(() => badge.textContent()).toBe('');
  for (const id of ['bell-1', 'bell-2', 'bell-3']) {
    await gateway.data(`mutation { deleteMessagesByTransaction(input: { transactionId: "${id}" }) { __typename } }`);
  }
  await page.reload();
  await page.getByRole('button', { name: 'Notifications' }).click();
  await page.getByText('Nothing yet.').waitFor();
  expect(visitor.problems).toEqual([]);
});

it('the bell of docs/react.md loads all pages, links addresses, and keeps nothing of a person who signs out', async () => {
  const send = (workflow: string, payload: object) =>
    gateway.data(
      `mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { ... on TriggerEventSuccess { event { isProcessed } } } }`,
      { event: { workflow, subscriberIds: ['user-1'], payload } },
    );
  for (let i = 1; i <= 24; i += 1) {
    await send('comment-mention', { authorName: `Weaver ${i}.`, discussionTitle: 'Wool & silk' });
  }
  await send('payment-failed', { billingUrl: 'javascript:alert(1)' });
  await send('payment-failed', { billingUrl: 'https://pay.example.com/?bill=7&step=2' });
  await using visitor = await visit(browser, `${app.url}/bell/nobody`);
  const { page } = visitor;
  const signIn = async (user: string) => {
    await page.context().addCookies([{ name: 'session', value: user, url: app.url }]);
    await page.evaluate((id) => Reflect.get(globalThis, 'show')(id), user);
  };
  await signIn('user-1');
  await page.getByText('26 new').waitFor();
  await page.getByRole('button', { name: 'Notifications' }).click();
  const items = page.getByRole('listitem');
  await expect.poll(() => items.count()).toBe(10);
  const more = page.getByRole('button', { name: 'Show more' });
  await more.click();
  await expect.poll(() => items.count()).toBe(20);
  await more.click();
  await expect.poll(() => items.count()).toBe(26);
  await more.waitFor({ state: 'detached' });
  const texts = await items.allTextContents();
  expect(texts.slice(2).map((text) => /Weaver \d+\. mentioned you in "Wool & silk"/.exec(text)?.[0])).toEqual(
    Array.from({ length: 24 }, (_, i) => `Weaver ${24 - i}. mentioned you in "Wool & silk"`),
  );
  const addresses = page.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(await addresses).toEqual(['https://pay.example.com/?bill=7&step=2']);

  const held = Promise.withResolvers<void>();
  await page.route('**/graphql', (route) => held.promise.then(() => route.continue()));
  await page.getByRole('button', { name: 'Sign out' }).click();
  gateway.forget();
  await signIn('user-2'); // On the same page, without a view in between.
  await page.getByText('Loading…').waitFor();
  expect(await page.locator('#root').textContent()).not.toMatch(/Weaver|new/);
  held.resolve();
  await page.getByText('Nothing yet.').waitFor();
  expect(gateway.upstream().filter(({ path }) => !path.includes('/subscribers/user-2/'))).toEqual([]);

  await page.route('**/notification-token', (route) => route.fulfill({ status: 503, body: '{}' }));
  gateway.forget();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn('user-3');
  await page.getByText('The token request failed (503).').waitFor();
  expect(gateway.upstream()).toEqual([]);
  expect(visitor.problems).toEqual([]);
});

/** Returns the places of objects that server components can't pass to components of the browser: those with another prototype. */
function findSpecialObjects(value: unknown, path = 'state'): string[] {
  if (typeof value === 'function' || typeof value === 'symbol') {
    return [path];
  }
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === Array.prototype;
  return [
    ...(isPlain ? [] : [path]),
    ...Object.entries(value).flatMap(([name, member]) => findSpecialObjects(member, `${path}.${name}`)),
  ];
}
