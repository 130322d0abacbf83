import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page, Request, Response } from 'playwright-core';
import { type Issuer, startIssuer, TOKEN_AUDIENCE } from '../../examples/dashboard/dev/issuer.ts';
import { SANDBOX_KEYS, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Scope } from '../../src/settings/scopes.ts';
import { CHILD_ENV } from './child-env.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { type Script, type ScriptedAnswer, type ScriptedRequest, startScriptedUpstream } from './scripted-upstream.ts';
import { startStaticFiles } from './static-files.ts';

const APP = fileURLToPath(new URL('../../examples/dashboard/', import.meta.url));
const VITE = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));

/** Everything that any token can permit in the dashboard's gateway. */
export const DASHBOARD_SCOPES: readonly Scope[] = [
  'stats:read',
  'workflows:read',
  'workflows:write',
  'groups:read',
  'groups:write',
  'subscribers:write',
];

export interface DashboardOptions {
  /** The most that tokens can permit. @default DASHBOARD_SCOPES */
  scopes?: readonly Scope[];
  rateLimit?: { calls: number; perSeconds: number };
}

/** The built app, on a host of its own, with the issuer, a gateway and a sandbox. */
export interface Dashboard extends AsyncDisposable {
  /** Where the app is; also its origin. */
  readonly url: string;
  readonly gateway: TestGateway;
  readonly issuer: Issuer;
  /** Requests that reached the service since the last `forget()`, of one endpoint (`PUT /v1/workflows/`: a prefix) where one is given. */
  upstream(endpoint?: string): ScriptedRequest[];
  forget(): void;
  /** Lets an endpoint (a prefix) answer so instead of the sandbox, until the end of the returned scope. */
  answering(endpoint: string, answer: ScriptedAnswer | Script): Disposable;
  /** Lets time pass for the gateway and the issuer, not for browsers. */
  advance(seconds: number): void;
  /** The texts of all files of the built app. */
  builtFiles(): Promise<Map<string, string>>;
  /** Opens the app. Without options, a page of an earlier visit is used again, which takes half the time; the page's clock needs options. */
  visit(browser: Browser, options?: BrowserContextOptions): Promise<Visitor>;
}

export async function startDashboard({
  scopes = DASHBOARD_SCOPES,
  rateLimit,
}: DashboardOptions = {}): Promise<Dashboard> {
  await using stack = new AsyncDisposableStack();
  let passed = 0;
  const now = () => new Date(Date.now() + passed * 1000);
  const scripts = new Map<string, ScriptedAnswer | Script>();
  let seen = 0;

  const folder = await mkdtemp(join(tmpdir(), 'notigraph-dashboard-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const files = stack.use(await startStaticFiles(folder));
  const issuer = stack.use(await startIssuer({ origins: [files.url], now }));
  const sandbox = stack.use(await startSandbox());
  const service = stack.use(
    await startScriptedUpstream((request, raw) => {
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
      { now },
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
      service.requests.slice(seen).filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    forget() {
      seen = service.requests.length;
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

async function forward(target: string, { method, path, headers, body }: ScriptedRequest): Promise<ScriptedAnswer> {
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

/** Origins in the build, which are replaced by those of a dashboard: one build serves all tests of the process. */
const GATEWAY = 'http://gateway.invalid';
const ISSUER = 'http://issuer.invalid';

let build: Promise<ReadonlyMap<string, string>> | undefined;

/** Builds the app as its README says. Returns the texts of its files. */
async function buildApp(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-dashboard-build-'));
  const args = [VITE, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  const addresses = { VITE_GATEWAY_URL: `${GATEWAY}/graphql`, VITE_ISSUER_URL: ISSUER };
  await promisify(execFile)(process.execPath, args, { cwd: APP, env: { ...CHILD_ENV, ...addresses } });
  const files = await readFolder(folder);
  await rm(folder, { recursive: true });
  return new Map([...files].map(([file, text]) => [relative(folder, file), text]));
}

/** Writes the built app with the origins of its services. */
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

/** Somebody at a browser, in a profile of their own. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  requests: Request[];
  responses: Response[];
  /** What was thrown in the page, and what the browser refused by the page's policy. */
  problems: string[];
  /** Signs in as one of the people, by their name on the screen. */
  signIn(name: string): Promise<void>;
  /** Follows the navigation, and waits for the view. */
  open(view: 'Statistics' | 'Workflows' | 'Groups' | 'Subscribers'): Promise<void>;
}

/** Opens a page in a profile of its own. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const page = await openPage(browser, options);
  const visitor = await goTo(page, url);
  return { ...visitor, [Symbol.asyncDispose]: () => page.context().close() };
}

/** Creates a function that opens pages, and keeps those without options for the next visit. */
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

/** Brings a page back to the state of a new profile. */
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
  context.setDefaultTimeout(10_000);
  return context.newPage();
}

/** Loads a page. Its own problems, such as what it throws, are kept to be looked at. */
async function goTo(page: Page, url: string): Promise<Omit<Visitor, typeof Symbol.asyncDispose>> {
  const context = page.context();
  const requests: Request[] = [];
  const responses: Response[] = [];
  const problems: string[] = [];
  context.on('request', (request) => requests.push(request));
  context.on('response', (response) => responses.push(response));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // A refused request is written there too, whatever the app makes of it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text());
    }
  });
  await page.goto(url);
  return {
    page,
    requests,
    responses,
    problems,
    async signIn(name) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('navigation').waitFor();
    },
    async open(view) {
      await page.getByRole('link', { name: view }).click();
      await page.getByRole('heading', { level: 1, name: view }).waitFor();
    },
  };
}
