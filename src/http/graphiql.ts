import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { writeErrorHelp } from './graphiql-help.ts';
import type { IncomingRequest, OutgoingResponse } from './request.ts';

/** One tab of GraphiQL. */
export interface GraphiQLTab {
  /** Text of the operation. */
  query: string;
  /** Variables as JSON text. */
  variables?: string;
}

export interface GraphiQLOptions {
  /** Exact path of the page. */
  endpoint: string;
  /** Tabs of the first visit. */
  tabs: readonly GraphiQLTab[];
  /** Headers of every tab. @default none */
  headers?: Readonly<Record<string, string>>;
}

/** The page as bytes, which all responses share: text would be encoded for each. */
interface Page {
  html: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
  etag: string;
}

/** Initial text of the headers editor without headers. GraphiQL accepts JSON with comments. */
const HEADERS_HINT = '{\n  // "Authorization": "ApiKey <your key>"\n}';

/** The page contains everything it needs. The browser blocks anything else, such as an image in a description. */
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
 * Works around three bugs of GraphiQL 5. The first click on a tab moves it to its position during layout and is lost, so tabs are fixed in
 * place. Tabs that don't fit into one row are hidden, so they wrap. Returning visitors get an additional empty tab unless the stored query
 * and variables are those of a stored tab, so these are stored.
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
    // First visit.
  }
</script>`;

/** Whether a browser requests the page rather than the result of a query. */
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
  }).replace('<div id="root">', `${CORRECTIONS}\n${writeErrorHelp().replaceAll('$', '$$$$')}\n$&`);
  return {
    html: new TextEncoder().encode(html),
    gzipped: new Uint8Array(await promisify(gzip)(html)),
    etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
  };
}
