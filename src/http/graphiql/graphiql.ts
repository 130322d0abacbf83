import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type IncomingRequest, type OutgoingResponse, queryOf } from '../request.ts';
import { type Bytes, createAssets, type Encoding, type Manifest } from './assets.ts';
import { respondNotBuilt, respondTurnedOff } from './message-page.ts';
import { createPageConfig, type PageConfigOptions } from './page-config.ts';
import { FILE_PARAMETER, renderPage } from './page-html.ts';
import { securityHeaders } from './security-headers.ts';

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
