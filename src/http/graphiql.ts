import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { IncomingRequest, OutgoingResponse } from './request.ts';

/** One tab of GraphiQL. */
export interface GraphiQLTab {
  /** The operation's text. */
  query: string;
  /** As JSON text. */
  variables?: string;
}

export interface GraphiQLOptions {
  /** The exact path of the page. */
  endpoint: string;
  /** What opens on the first visit. */
  tabs: readonly GraphiQLTab[];
  /** The headers every tab opens with. @default none */
  headers?: Readonly<Record<string, string>>;
}

/** As bytes, which all answers share: a text would be encoded for each. */
interface Page {
  html: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
  etag: string;
}

/** What an editor of headers opens with where none are given; GraphiQL reads JSON with comments. */
const HEADERS_HINT = '{\n  // "Authorization": "ApiKey <your key>"\n}';

/** The page carries everything; the browser refuses it anything from elsewhere, an image in a description for one. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Corrects three things of GraphiQL 5. A tab that is pressed for the first time jumps to where it was while the page was laid out, and the
 * click is lost: tabs stay where they are. Tabs that do not fit into one row are out of sight: they get further rows. A visitor who comes
 * back gets one more, empty tab unless the stored query and variables are those of a stored tab: then that one opens.
 */
const CORRECTIONS = `<style>
  .graphiql-tab { transform: none !important; }
  .graphiql-tabs { flex-wrap: wrap; row-gap: 4px; }
  .graphiql-container .graphiql-session-header { height: auto; }
</style>
<script>
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState'));
    const linked = new URL(location.href).searchParams.get('query');
    const opened = tabs.find(({ query }) => query === linked) ?? tabs[activeTabIndex];
    localStorage.setItem('graphiql:query', opened.query ?? '');
    localStorage.setItem('graphiql:variables', opened.variables ?? '');
  } catch {
    // The first visit.
  }
</script>`;

/** Whether a browser asks for the page rather than for the result of a query. */
export const wantsPage = (request: IncomingRequest): boolean =>
  request.method === 'GET' && (request.header('accept')?.includes('text/html') ?? false);

/**
 * Serves the GraphiQL page. It contains all of its scripts and styles and loads nothing from elsewhere, because people paste API keys
 * into it. It is rendered and compressed on the first visit and kept.
 */
export function createGraphiQL(options: GraphiQLOptions): (request: IncomingRequest) => Promise<OutgoingResponse> {
  let page: Promise<Page> | undefined;
  return async (request) => {
    page ??= render(options);
    const { html, gzipped, etag } = await page;
    const common = {
      etag,
      'cache-control': 'no-cache',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      vary: 'Accept, Accept-Encoding',
    };
    if (request.header('if-none-match') === etag) {
      return { status: 304, headers: common, body: undefined };
    }
    const acceptsGzip = /\bgzip\b/.test(request.header('accept-encoding') ?? '');
    const headers = {
      ...common,
      'content-type': 'text/html; charset=utf-8',
      ...(acceptsGzip && { 'content-encoding': 'gzip' }),
    };
    return { status: 200, headers, body: acceptsGzip ? gzipped : html };
  };
}

async function render({ endpoint, tabs, headers = {} }: GraphiQLOptions): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const headersText = Object.keys(headers).length === 0 ? HEADERS_HINT : JSON.stringify(headers, null, 2);
  const html = renderGraphiQL({
    title: 'Notigraph',
    endpoint,
    headers: headersText,
    defaultHeaders: headersText,
    defaultTabs: tabs.map((tab) => ({ ...tab, headers: headersText })),
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
  }).replace('<div id="root">', `${CORRECTIONS}\n$&`);
  return {
    html: new TextEncoder().encode(html),
    gzipped: new Uint8Array(await promisify(gzip)(html)),
    etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
  };
}
