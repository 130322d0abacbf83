import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Locator, Page, Request, Response } from 'playwright-core';
import { type Issuer, startIssuer, TOKEN_AUDIENCE } from '../../examples/dashboard/dev/issuer.ts';
import { SANDBOX_KEYS, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Scope } from '../../src/settings/scopes.ts';
import { CHILD_ENV } from './child-env.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { type Script, type ServiceRequest, type ServiceResponse, startService } from './service.ts';
import { startStaticFiles } from './static-files.ts';

const APP = fileURLToPath(new URL('../../examples/dashboard/', import.meta.url));
const VITE = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));

/** Scopes that tokens can have in the dashboard's gateway. */
export const DASHBOARD_SCOPES: readonly Scope[] = [
  'stats:read',
  'workflows:read',
  'workflows:write',
  'groups:read',
  'groups:write',
  'feeds:read',
  'feeds:write',
  'messages:write',
  'subscribers:write',
];

export interface DashboardOptions {
  /** Scopes that tokens can have. @default DASHBOARD_SCOPES */
  scopes?: readonly Scope[];
  rateLimit?: { calls: number; perSeconds: number };
}

/** Built app on its own origin, with an issuer, a gateway and a sandbox. */
export interface Dashboard extends AsyncDisposable {
  /** URL of the app, which is also its origin. */
  readonly url: string;
  readonly gateway: TestGateway;
  readonly issuer: Issuer;
  /** Returns the upstream requests since the last `forget()`, optionally only those that start with a prefix such as `PUT /v1/workflows/`. */
  upstream(endpoint?: string): ServiceRequest[];
  /** Discards the requests recorded so far. */
  forget(): void;
  /** Overrides the response of endpoints that start with a prefix, until the returned object is disposed. */
  answering(endpoint: string, answer: ServiceResponse | Script): Disposable;
  /** Advances the clock of the gateway and the issuer, but not of browsers. */
  advance(seconds: number): void;
  /** Returns the texts of all files of the built app. */
  builtFiles(): Promise<Map<string, string>>;
  /** Opens the app. Reuses the page of an earlier visit unless options are given, which halves the time. Fake clocks need options. */
  visit(browser: Browser, options?: BrowserContextOptions): Promise<Visitor>;
}

export async function startDashboard({
  scopes = DASHBOARD_SCOPES,
  rateLimit,
}: DashboardOptions = {}): Promise<Dashboard> {
  await using stack = new AsyncDisposableStack();
  let passed = 0;
  const now = () => new Date(Date.now() + passed * 1000);
  const scripts = new Map<string, ServiceResponse | Script>();
  let recordStart = 0;

  const folder = await mkdtemp(join(tmpdir(), 'notigraph-dashboard-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const files = stack.use(await startStaticFiles(folder));
  const issuer = stack.use(await startIssuer({ origins: [files.url], now }));
  const sandbox = stack.use(await startSandbox());
  const service = stack.use(
    await startService((request, raw) => {
      const called = `${request.method} ${request.path}`;
      const script = [...scripts].find(([endpoint]) => called.startsWith(endpoint))?.[1];
      return script === undefined
        ? forward(sandbox.url, request)
        : typeof script === 'function'
          ? script(request, raw)
          : script;
    }),
  );
  const gateway = stack.use(
    await startGateway(
      {
        upstream: service.url,
        clients: {
          server: false,
          browser: {
            issuers: [
              {
                issuer: issuer.url,
                audience: TOKEN_AUDIENCE,
                jwks: `${issuer.url}/.well-known/jwks.json`,
                algorithms: ['ES256'],
                tenantClaim: 'tenant',
              },
            ],
            scopes,
            tenants: { juniper: SANDBOX_KEYS.development, fernhill: SANDBOX_KEYS.production },
            corsOrigins: [files.url],
            trustedDocuments: 'enforce',
            ...(rateLimit && { rateLimit }),
          },
        },
        trustedDocuments: { manifests: [join(APP, 'trusted-documents.json')] },
      },
      { now, ...(rateLimit && { monotonicNow: () => 0 }) }, // Nothing is refilled, however long a test takes.
    ),
  );
  await copyApp(folder, new URL(gateway.url).origin, issuer.url);
  const started = stack.move();
  const visit = createVisits(files.url);

  return {
    url: files.url,
    gateway,
    issuer,
    upstream: (endpoint = '') =>
      service.requests.slice(recordStart).filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    forget() {
      recordStart = service.requests.length;
    },
    answering(endpoint, answer) {
      scripts.set(endpoint, answer);
      return { [Symbol.dispose]: () => void scripts.delete(endpoint) };
    },
    advance(seconds) {
      passed += seconds;
    },
    builtFiles: () => readFolder(folder),
    visit,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function forward(target: string, { method, path, headers, body }: ServiceRequest): Promise<ServiceResponse> {
  const names = ['authorization', 'content-type', 'idempotency-key'];
  const passed = Object.entries(headers).filter(([name]) => names.includes(name));
  const response = await fetch(target + path, {
    method,
    headers: passed.map(([name, value]): [string, string] => [name, String(value)]),
    ...(body !== '' && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: { 'content-type': response.headers.get('content-type') ?? 'application/json' },
    ...(text !== '' && { body: text }),
  };
}

/** Placeholder origins in the build. Each dashboard replaces them, so that all tests of a process share one build. */
const GATEWAY = 'http://gateway.invalid';
const ISSUER = 'http://issuer.invalid';

let build: Promise<ReadonlyMap<string, string>> | undefined;

/** Builds the app as described in its README. Returns the texts of its files. */
async function buildApp(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-dashboard-build-'));
  const args = [VITE, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  const addresses = { VITE_GATEWAY_URL: `${GATEWAY}/graphql`, VITE_ISSUER_URL: ISSUER };
  await promisify(execFile)(process.execPath, args, { cwd: APP, env: { ...CHILD_ENV, ...addresses } });
  const files = await readFolder(folder);
  await rm(folder, { recursive: true });
  return new Map([...files].map(([file, text]) => [relative(folder, file), text]));
}

/** Writes the built app to a folder, with the origins of its services. */
async function copyApp(folder: string, gateway: string, issuer: string): Promise<void> {
  build ??= buildApp();
  for (const [file, text] of await build) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text.replaceAll(GATEWAY, gateway).replaceAll(ISSUER, issuer));
  }
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
  Feeds: 'form input',
  Messages: 'form input',
  Subscribers: 'form input',
};

/** Page of the app in its own browser profile. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  requests: Request[];
  responses: Response[];
  /** Uncaught errors and Content Security Policy violations of the page. */
  problems: string[];
  /** Signs in as the person with this name. */
  signIn(name: string): Promise<void>;
  /** Returns the visible part of the switch with this name; the input that has the role is hidden inside. */
  switchOf(name?: string): Locator;
  /** Opens a view through the navigation and waits for it. */
  open(view: View): Promise<void>;
  /** Opens a view and waits until its data is loaded. */
  openLoaded(view: View): Promise<void>;
}

/** Opens a page in a new browser profile. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const page = await openPage(browser, options);
  const visitor = await goTo(page, url);
  return { ...visitor, [Symbol.asyncDispose]: () => page.context().close() };
}

/** Creates a function that opens pages and reuses those without options. */
function createVisits(url: string): Dashboard['visit'] {
  const pages: Page[] = [];
  return async (browser, options) => {
    if (options !== undefined) {
      return visit(browser, url, options);
    }
    const page = pages.pop() ?? (await openPage(browser));
    const visitor = await goTo(page, url);
    return {
      ...visitor,
      async [Symbol.asyncDispose]() {
        await reset(page);
        pages.push(page);
      },
    };
  };
}

/** Resets a page to the state of a new profile. */
async function reset(page: Page): Promise<void> {
  const context = page.context();
  page.removeAllListeners();
  context.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  await context.clearCookies();
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.goto('about:blank');
}

async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(25_000);
  return context.newPage();
}

/** Loads a page and records its requests, responses and problems. */
async function goTo(page: Page, url: string): Promise<Omit<Visitor, typeof Symbol.asyncDispose>> {
  const context = page.context();
  const requests: Request[] = [];
  const responses: Response[] = [];
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

  async function open(view: View): Promise<void> {
    await page.getByRole('link', { name: view }).click();
    await page.getByRole('heading', { level: 1, name: view }).waitFor();
  }

  return {
    page,
    requests,
    responses,
    problems,
    async signIn(name) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('navigation').waitFor();
    },
    switchOf: (name) => page.locator('.switch', { has: page.getByRole('switch', name === undefined ? {} : { name }) }),
    open,
    async openLoaded(view) {
      await open(view);
      await page.locator(LOADED[view]).first().waitFor();
      await page.locator('[role=status]', { hasText: /^Loading/ }).waitFor({ state: 'detached' });
    },
  };
}
