// Serves GraphiQL's page and its files, and helps browsers that ask for other paths.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { GraphQLSchema } from 'graphql';
import { loadOperations } from '../documents/shipped-operations.ts';
import { ERROR_CODES } from '../errors/codes.ts';
import { pathOf, queryOf } from '../http/head.ts';
import type { FindPage, Http } from '../http/http.ts';
import type { IncomingRequest, OutgoingResponse } from '../http/message.ts';
import { packageUrl } from '../lib/installation.ts';
import { isRecord } from '../lib/is-record.ts';
import { withoutMarkdown } from '../lib/text.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { FILE_PARAMETER, type PageConfig, type PageOperation, type Scheme } from './page-config.ts';
import { renderPage, respondLinks, respondNotBuilt, respondTurnedOff, securityHeaders } from './pages/page-html.ts';

const CLIENT_KINDS = { ApiKey: 'server', Bearer: 'browser' } as const satisfies Record<Scheme, string>;

/** Operations in tabs, in this order. The first ones need no id of the service. All others are only in the menu. */
const TABS = ['NotificationGroups', 'NotificationStats', 'WorkflowPage', 'Workflow', 'CreateNotificationGroup'];

/** The same on the sandbox: first the life of a notification, to run in this order. */
const SANDBOX_TABS = ['TriggerEvent', 'Inbox', 'MarkMessages', 'DeleteMessagesByTransaction', 'NotificationStats'];

/** The same if nothing can be triggered: a sample person's inbox. */
const INBOX_TABS = ['UnseenMessages', 'Inbox', 'MarkAllMessages', 'InboxPreferences'];

/** Variables of these tabs in place of the examples: the statistics of today, and the messages that the first tab sends. */
const SANDBOX_VARIABLES: Readonly<Record<string, Pick<PageOperation, 'variables'>>> = {
  NotificationStats: { variables: '{ "days": 1 }' },
  DeleteMessagesByTransaction: { variables: '{ "input": { "transactionId": "my-first-notification" } }' },
};

/**
 * Creates the function that finds GraphiQL's page and its files, or the page that browsers get without it, among the requests to the endpoint.
 * It also answers what browsers ask for beside the endpoint: `/`, the endpoint's path with a slash, and an icon.
 *
 * @param moduleSchema schema with modules, whose operations are listed; undefined if there are none
 */
export function createPages(http: Http, moduleSchema: GraphQLSchema | undefined): FindPage {
  const { graphiql, endpoint } = http.settings;
  const paths = http.upstreamSelector.pathsOf(endpoint);
  const findPage: FindPage =
    graphiql === false
      ? (request) => (wantsPage(request) ? async () => respondTurnedOff() : undefined)
      : createFindPageByHost(graphiql, http, moduleSchema);
  return (request) => {
    if (request.method !== 'GET') {
      return undefined;
    }
    const path = pathOf(request);
    if (paths.has(path)) {
      return findPage(request);
    }
    if (path === '/favicon.ico') {
      return async () => NO_ICON;
    }
    const links = path === '/' ? [...paths] : [...paths].filter((each) => path === `${each}/`);
    return links.length > 0 && wantsPage(request) ? async () => respondLinks(path, links) : undefined;
  };
}

/** Creates the function that finds the page and its files: with the configured key, or without it for unknown hosts. */
function createFindPageByHost(
  graphiql: Exclude<GatewaySettings['graphiql'], false>,
  { auth: { schemes, clientRules }, isKnownHost }: Http,
  moduleSchema: GraphQLSchema | undefined,
): FindPage {
  const { authorization, sandbox: isSandbox = false } = graphiql === true ? {} : graphiql;
  const explains = schemes.filter((scheme) => !clientRules[CLIENT_KINDS[scheme]].hidesCalls);
  const config = { isSandbox, schemes, explains, ...describeApi(isSandbox, moduleSchema) };
  const assets = new Assets();
  const findAnonymous = createFindPage({ ...config, authorization: undefined }, assets);
  const findWithKey = createFindPage({ ...config, authorization }, assets);
  const mayHaveKey = (host: string | undefined) => isSandbox || isKnownHost(host); // The keys of a sandbox are public.
  return (request) => (mayHaveKey(request.host) ? findWithKey : findAnonymous)(request);
}

/** Browsers ask for the icon of every address that is not a page with an icon, such as JSON. */
const NO_ICON: OutgoingResponse = { status: 204, headers: { 'cache-control': 'max-age=86400' }, body: undefined };

function describeApi(isSandbox: boolean, moduleSchema: GraphQLSchema | undefined) {
  const shipped = loadOperations(moduleSchema).map(({ calls: _, ...operation }) => operation);
  const onSandbox = isSandbox ? [SANDBOX_TABS, INBOX_TABS] : [];
  const tabs = onSandbox.find((names) => names.every((tab) => shipped.some(({ name }) => name === tab))) ?? TABS;
  const hasLife = tabs === SANDBOX_TABS;
  return {
    tabs,
    operations: shipped.map((operation) => ({ ...operation, ...(hasLife && SANDBOX_VARIABLES[operation.name]) })),
    errorCodes: Object.fromEntries(
      Object.entries(ERROR_CODES).map(([code, { meaning, remedy }]) => [
        code,
        { meaning: withoutMarkdown(meaning), remedy: withoutMarkdown(remedy) },
      ]),
    ),
  } satisfies Partial<PageConfig>;
}

/** Whether a browser requests a page rather than the result of a query. */
function wantsPage(request: IncomingRequest): boolean {
  const accept = request.header('accept') ?? '';
  return accept.includes('text/html') && !accept.includes('json');
}

/**
 * Headers of the page and its files; a worker has the policy of its script. The page loads only the gateway's own files, because people enter
 * API keys. The editor, Monaco, creates style elements and uses images in `data:` URLs.
 */
const SECURITY_HEADERS = {
  ...securityHeaders(
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'img-src data:',
    "font-src 'self'",
    "connect-src 'self'",
  ),
  'cross-origin-resource-policy': 'same-origin',
};

/** The name of a file contains a hash of its content. */
const FILE_HEADERS = {
  ...SECURITY_HEADERS,
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'Accept-Encoding',
};

const UNKNOWN_FILE: OutgoingResponse = {
  status: 404,
  headers: { ...SECURITY_HEADERS, 'content-type': 'text/plain', 'cache-control': 'no-store' },
  body: 'This file belongs to another version of the page. Reload the page.\n',
};

/** Creates the function that finds GraphiQL's page and its files. No file is read before the first visit. */
function createFindPage(config: PageConfig, assets: Assets): FindPage {
  let built: { manifest: PageManifest; page: Promise<Page> } | undefined;

  async function respondPage(request: IncomingRequest): Promise<OutgoingResponse> {
    const manifest = await assets.readManifest();
    if (manifest === undefined) {
      return respondNotBuilt();
    }
    if (manifest.script !== built?.manifest.script || manifest.style !== built.manifest.style) {
      built = { manifest, page: toPage(renderPage(config, manifest)) }; // A build takes effect without a restart.
    }
    const { html, gzipped, etag } = await built.page;
    const headers = { ...SECURITY_HEADERS, etag, 'cache-control': 'no-cache', vary: 'Accept, Accept-Encoding' };
    if (request.header('if-none-match') === etag) {
      return { status: 304, headers, body: undefined };
    }
    const encoding = encodingOf(request) && 'gzip'; // Compressed here, where gzip is fast enough.
    return respondBytes(headers, 'text/html; charset=utf-8', encoding, encoding === undefined ? html : gzipped);
  }

  async function respondFile(request: IncomingRequest, name: string): Promise<OutgoingResponse> {
    const type = (built?.manifest ?? (await assets.readManifest()))?.types.get(name);
    const encoding = encodingOf(request);
    const content = type && (await assets.read(name, encoding).catch(() => undefined));
    return type && content ? respondBytes(FILE_HEADERS, type, encoding, content) : UNKNOWN_FILE;
  }

  return (request) => {
    const file = new URLSearchParams(queryOf(request)).get(FILE_PARAMETER);
    if (file !== null) {
      return () => respondFile(request, file);
    }
    return wantsPage(request) ? () => respondPage(request) : undefined;
  };
}

/** Content encoding of a response; undefined for none. */
type Encoding = 'br' | 'gzip' | undefined;

function encodingOf(request: IncomingRequest): Encoding {
  const accepted = request.header('accept-encoding') ?? '';
  return /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
}

/** Bytes of a response, in the form that both adapters write. */
type Bytes = Uint8Array<ArrayBuffer>;

const respondBytes = (
  headers: Readonly<Record<string, string>>,
  type: string,
  encoding: Encoding,
  body: Bytes,
): OutgoingResponse => ({
  status: 200,
  headers: { ...headers, 'content-type': type, ...(encoding !== undefined && { 'content-encoding': encoding }) },
  body,
});

type Page = Awaited<ReturnType<typeof toPage>>;

/** Returns a page as bytes, which all responses share. */
const toPage = async (html: string) => ({
  html: new TextEncoder().encode(html),
  gzipped: new Uint8Array(await promisify(gzip)(html)),
  etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
});

interface PageManifest {
  /** Names of the files that the page refers to. */
  script: string;
  style: string;
  /** Media types of all files by their names. */
  types: ReadonlyMap<string, string>;
}

/** Files of GraphiQL's page, as written by `npm run build:graphiql`: a list, and the files in two compressed forms. */
class Assets {
  readonly #folder = packageUrl('dist/graphiql/');
  readonly #contents = new Map<string, Promise<Bytes>>();

  /** Reads the list of files. Returns undefined if the page has not been built. */
  readManifest(): Promise<PageManifest | undefined> {
    return readFile(new URL('manifest.json', this.#folder), 'utf8').then(parseManifest, () => undefined);
  }

  /**
   * Reads a file of the list, the first time from the disk. All responses share it, so that many of them at once need no more memory than
   * one. Rejects if it has been deleted.
   */
  async read(name: string, encoding: Encoding): Promise<Bytes> {
    const key = `${name} ${encoding}`;
    const content = this.#contents.get(key) ?? this.#load(name, encoding);
    this.#contents.set(key, content);
    return content.catch((error: unknown) => {
      this.#contents.delete(key);
      throw error;
    });
  }

  async #load(name: string, encoding: Encoding): Promise<Bytes> {
    const stored = await readFile(new URL(`${name}.${encoding === 'br' ? 'br' : 'gz'}`, this.#folder));
    return new Uint8Array(encoding === undefined ? await promisify(gunzip)(stored) : stored);
  }
}

function parseManifest(text: string): PageManifest {
  const { script, style, types }: Record<string, unknown> = JSON.parse(text);
  if (typeof script !== 'string' || typeof style !== 'string' || !isRecord(types)) {
    throw new TypeError('dist/graphiql/manifest.json is not a list of files.');
  }
  return { script, style, types: new Map(Object.entries(types).map(([name, type]) => [name, String(type)])) };
}
