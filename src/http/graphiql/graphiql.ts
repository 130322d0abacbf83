import { createHash } from 'node:crypto';
import { access, constants, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { RulesByClientKind } from '../../auth/client-rules.ts';
import { loadOperations } from '../../graphql/documents/shipped-operations.ts';
import { describeUnreadable, packageUrl } from '../../lib/installation.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import { type IncomingRequest, type OutgoingResponse, pathOf, queryOf } from '../request.ts';
import { createPageConfig, type PageConfigOptions, type Scheme } from './page-config.ts';
import { FILE_PARAMETER, renderPage, respondNotBuilt, respondTurnedOff, securityHeaders } from './page-html.ts';

/** Route of a request for a page or one of its files; undefined for any other request. */
export type FindPage = (request: IncomingRequest) => (() => Promise<OutgoingResponse>) | undefined;

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

/** The page as bytes, which all responses share. */
interface Page {
  html: Bytes;
  gzipped: Bytes;
  etag: string;
}

/** Whether a browser requests a page rather than the result of a query. */
function wantsPage(request: IncomingRequest): boolean {
  const accept = request.header('accept') ?? '';
  return accept.includes('text/html') && !accept.includes('json');
}

/** Finds the page that browsers get if GraphiQL is off. */
export const findTurnedOffPage: FindPage = (request) =>
  request.method === 'GET' && wantsPage(request) ? async () => respondTurnedOff() : undefined;

/** Creates the function that finds GraphiQL's page and its files among the requests to the endpoint. Nothing is read before the first visit. */
export function createFindPage(options: PageConfigOptions): FindPage {
  const assets = createAssets();
  let built: { manifest: Manifest; page: Promise<Page> } | undefined;

  /** Returns the page for the current files, so that a build takes effect without a restart. */
  async function findPage(): Promise<Page | undefined> {
    const manifest = await assets.readManifest();
    const isCurrent = manifest?.script === built?.manifest.script && manifest?.style === built?.manifest.style;
    if (manifest !== undefined && !isCurrent) {
      built = { manifest, page: toPage(renderPage(createPageConfig(options), manifest)) };
    }
    return manifest && built?.page;
  }

  async function respondPage(request: IncomingRequest): Promise<OutgoingResponse> {
    const page = await findPage();
    if (page === undefined) {
      return respondNotBuilt();
    }
    const { html, gzipped, etag } = page;
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
    if (request.method !== 'GET') {
      return undefined;
    }
    const file = new URLSearchParams(queryOf(request)).get(FILE_PARAMETER);
    if (file !== null) {
      return () => respondFile(request, file);
    }
    return wantsPage(request) ? () => respondPage(request) : undefined;
  };
}

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

function encodingOf(request: IncomingRequest): Encoding {
  const accepted = request.header('accept-encoding') ?? '';
  return /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
}

const toPage = async (html: string): Promise<Page> => ({
  html: new TextEncoder().encode(html),
  gzipped: new Uint8Array(await promisify(gzip)(html)),
  etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
});

const CLIENT_KINDS = { ApiKey: 'server', Bearer: 'browser' } as const satisfies Record<Scheme, string>;

/** Options of `createPages`. */
interface PagesOptions {
  /** Exact paths of the GraphQL endpoint, which is also that of the pages. */
  paths: ReadonlySet<string>;
  schemes: PageConfigOptions['schemes'];
  clientRules: RulesByClientKind;
}

/** Creates the pages of the endpoint that the settings ask for. */
export function createPages({ graphiql }: GatewaySettings, { paths, schemes, clientRules }: PagesOptions): FindPage {
  const { authorization, sandbox: isSandbox = false } = typeof graphiql === 'boolean' ? {} : graphiql;
  const explains = schemes.filter((scheme) => clientRules[CLIENT_KINDS[scheme]].hidesCalls === undefined);
  const findPage =
    graphiql === false
      ? findTurnedOffPage
      : createFindPage({ operations: loadOperations(), schemes, explains, authorization, isSandbox });
  return (request) => (paths.has(pathOf(request)) ? findPage(request) : undefined);
}

/** Content encoding of a response; undefined for none. */
export type Encoding = 'br' | 'gzip' | undefined;

/** Bytes of a response, in the form that both adapters write. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** List of the files of GraphiQL's page, as written by `npm run build:graphiql`. */
export interface Manifest {
  /** Names of the files that the page refers to. */
  script: string;
  style: string;
  /** Media types of all files by their names. */
  types: ReadonlyMap<string, string>;
}

/** Files of GraphiQL's page. */
export interface Assets {
  /** Reads the list of files. Returns undefined if the page has not been built. */
  readManifest(): Promise<Manifest | undefined>;
  /** Returns why the page can't be served, as a clause; undefined if all its files can be read. */
  findProblem(): Promise<string | undefined>;
  /** Reads a file of the list, the first time from the disk. Rejects if it has been deleted. */
  read(name: string, encoding: Encoding): Promise<Bytes>;
}

const SUFFIXES = { br: '.br', gzip: '.gz' };

/** Creates the access to the built files. They are stored compressed. */
export function createAssets(): Assets {
  const folder = packageUrl('dist/graphiql/');
  const contents = new Map<string, Promise<Bytes>>();

  /** Returns what `load` resolves to. All responses share it, so that many of them at once need no more memory than one. */
  async function once(key: string, load: () => Promise<Bytes>): Promise<Bytes> {
    const content = contents.get(key) ?? load();
    contents.set(key, content);
    return content.catch((error: unknown) => {
      contents.delete(key);
      throw error;
    });
  }

  const readStored = (file: string): Promise<Bytes> =>
    once(file, async () => new Uint8Array(await readFile(new URL(file, folder))));

  const readManifest = () => readFile(new URL('manifest.json', folder), 'utf8').then(parseManifest, () => undefined);

  return {
    readManifest,
    async findProblem() {
      const names = [...((await readManifest())?.types.keys() ?? [])];
      const compressed = names.flatMap((name) => Object.values(SUFFIXES).map((suffix) => name + suffix));
      for (const file of ['manifest.json', ...compressed].map((name) => new URL(name, folder))) {
        try {
          await access(file, constants.R_OK);
        } catch (error) {
          return describeUnreadable(file, error);
        }
      }
      return undefined;
    },
    read: (name, encoding) =>
      encoding === undefined
        ? once(name, async () => new Uint8Array(await promisify(gunzip)(await readStored(name + SUFFIXES.gzip))))
        : readStored(name + SUFFIXES[encoding]),
  };
}

function parseManifest(text: string): Manifest {
  const { script, style, types }: Record<string, unknown> = JSON.parse(text);
  if (typeof script !== 'string' || typeof style !== 'string' || !isRecord(types)) {
    throw new TypeError('dist/graphiql/manifest.json is not a list of files.');
  }
  return { script, style, types: new Map(Object.entries(types).map(([name, type]) => [name, String(type)])) };
}
