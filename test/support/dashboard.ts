// Starts the example dashboard, and opens it in browsers.

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Request, Response } from 'playwright-core';
import { type Issuer, startIssuer, TOKEN_AUDIENCE } from '../../examples/dashboard/dev/issuer.ts';
import { createSessions, type SessionHandler } from '../../examples/dashboard/dev/sessions.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import type { Scope } from '../../src/settings/scopes.ts';
import { CHILD_ENV } from './child-env.ts';
import { startGateway } from './gateway.ts';
import { createTemporaryFolder } from './sandbox-files.ts';
import { forwardTo, type Script, type ServiceResponse, startService } from './service.ts';
import { startStaticFiles } from './static-files.ts';

const APP = fileURLToPath(new URL('../../examples/dashboard/', import.meta.url));
const VITE = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));

/** Scopes that tokens can have in the dashboard's gateway. */
const SCOPES: readonly Scope[] = [
  'inbox:read',
  'inbox:write',
  'stats:read',
  'workflows:read',
  'workflows:write',
  'groups:read',
  'groups:write',
  'feeds:read',
  'feeds:write',
  'messages:read',
  'messages:write',
  'subscribers:write',
];

/** Returns clients that sign in at the dashboard's issuer, whose tenants are the environments of the sandbox. */
export const clientsOf = ({ url }: Issuer, browser: NonNullable<GatewayOptions['clients']>['browser']) => ({
  server: false as const,
  browser: {
    issuers: [
      { issuer: url, audience: TOKEN_AUDIENCE, jwks: `${url}/.well-known/jwks.json`, algorithms: ['ES256' as const] },
    ],
    tenants: { juniper: SANDBOX_KEYS.development, fernhill: SANDBOX_KEYS.production },
    ...browser,
  },
});

/** Built app and its sessions on their own origin, with an issuer, a gateway and a sandbox. */
export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

export async function startDashboard() {
  await using stack = new AsyncDisposableStack();
  let passed = 0;
  const now = () => new Date(Date.now() + passed * 1000);
  const scripts = new Map<string, ServiceResponse | Script>();
  let recordStart = 0;

  const folder = stack.use(await createTemporaryFolder()).path();
  let sessions: SessionHandler = () => false;
  const files = stack.use(await startStaticFiles(folder, (request, response) => sessions(request, response)));
  const issuer = stack.use(await startIssuer({ now }));
  sessions = createSessions({ issuer: issuer.url, origins: [files.url], now });
  const sandbox = stack.use(await startSandbox());
  const forward = forwardTo(sandbox.url);
  const service = stack.use(
    await startService((request, raw) => {
      const called = `${request.method} ${request.path}`;
      const script = [...scripts].find(([endpoint]) => called.startsWith(endpoint))?.[1];
      return script === undefined
        ? forward(request, raw)
        : typeof script === 'function'
          ? script(request, raw)
          : script;
    }),
  );
  const gateway = stack.use(
    await startGateway(
      {
        upstream: service.url,
        modules: [inbox, messages, workflowPages],
        clients: clientsOf(issuer, { scopes: SCOPES, corsOrigins: [files.url], trustedDocuments: 'enforce' }),
        trustedDocuments: { manifests: [join(APP, 'trusted-documents.json')] },
      },
      { now },
    ),
  );
  await buildApp(folder, gateway.url);
  const started = stack.move();

  return {
    /** URL of the app, which is also its origin. */
    url: files.url,
    gateway,
    issuer,
    /** URL of the service, to which other apps and servers send notifications. */
    service: service.url,
    /**
     * Returns the upstream requests since the last `forget()`, optionally only those that start with a prefix such as `PUT /v1/workflows/`.
     * Counts of new messages are left out unless the prefix says `GET /v1/subscribers`: the bell may poll at any time.
     */
    upstream: (endpoint = '') =>
      service.requests
        .slice(recordStart)
        .filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint))
        .filter(({ path }) => endpoint.startsWith('GET /v1/subscribers') || !path.includes('/notifications/unseen')),
    /** Discards the requests recorded so far. */
    forget(): void {
      recordStart = service.requests.length;
    },
    /** Overrides the response of endpoints that start with a prefix, until the returned object is disposed. */
    answering(endpoint: string, answer: ServiceResponse | Script): Disposable {
      scripts.set(endpoint, answer);
      return { [Symbol.dispose]: () => void scripts.delete(endpoint) };
    },
    /** Advances the clock of the gateway, the issuer and the sessions, but not of browsers. */
    advance(seconds: number): void {
      passed += seconds;
    },
    /** Returns the texts of all files of the built app. */
    builtFiles: () => readFolder(folder),
    /** Opens the app in a new browser profile. */
    visit: (browser: Browser, options?: BrowserContextOptions) => visit(browser, files.url, options),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Builds the app as described in its README. */
async function buildApp(folder: string, gateway: string): Promise<void> {
  const args = [VITE, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  const env = { ...CHILD_ENV, VITE_GATEWAY_URL: gateway };
  await promisify(execFile)(process.execPath, args, { cwd: APP, env });
}

async function readFolder(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)));
}

/** The views, in the order of the navigation. */
export const VIEWS = ['Statistics', 'Workflows', 'Groups', 'Feeds', 'Messages', 'Subscribers'] as const;

export type View = (typeof VIEWS)[number];

/** Elements that each view shows when its data is loaded. */
const LOADED: Readonly<Record<View, string>> = {
  Statistics: '.chart-bar',
  Workflows: '.switch',
  Groups: '.row-name',
  Feeds: '.row-name',
  Messages: '.row-name',
  Subscribers: 'form input',
};

/** Opens a page in a new browser profile, and records its requests, responses and problems. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(100_000); // As generous as that of the tests: on a busy machine, opening a page takes long.
  const page = await context.newPage();
  const requests: Request[] = [];
  const responses: Response[] = [];
  /** Uncaught errors and Content Security Policy violations of the page. */
  const problems: string[] = [];
  context.on('request', (request) => requests.push(request));
  context.on('response', (response) => responses.push(response));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // Browsers also log failed requests, which the app handles.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text());
    }
  });
  await page.goto(url);

  /** Opens a view through the navigation and waits for it. */
  async function open(view: View): Promise<void> {
    await page.getByRole('link', { name: view }).click();
    await page.getByRole('heading', { level: 1, name: view }).waitFor();
  }

  return {
    page,
    requests,
    responses,
    problems,
    /** Signs in as the person with this name. */
    async signIn(name: string): Promise<void> {
      await page.getByRole('button', { name }).click();
      await page.getByRole('navigation').waitFor();
    },
    /** Returns the visible part of the switch with this name; the input that has the role is hidden inside. */
    switchOf: (name?: string) =>
      page.locator('.switch', { has: page.getByRole('switch', name === undefined ? {} : { name }) }),
    open,
    /** Opens a view and waits until its data is loaded. */
    async openLoaded(view: View): Promise<void> {
      await open(view);
      await page.locator(LOADED[view]).first().waitFor();
      await page.locator('[role=status]', { hasText: /^Loading/ }).waitFor({ state: 'detached' });
    },
    /** Creates a group or a feed with the form of its view, which is open. */
    async create(record: 'group' | 'feed', name: string): Promise<void> {
      await page.getByRole('textbox', { name: `New ${record}` }).fill(name);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText(`“${name}” was created.`).waitFor();
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
