// Renders the HTML of GraphiQL's page and of messages to browsers.

import { createHash } from 'node:crypto';
import type { OutgoingResponse } from '../../http/message.ts';
import { FILE_PARAMETER, type PageConfig } from '../page-config.ts';

/**
 * Returns the headers that protect a page. The browser loads nothing that the sources don't permit.
 *
 * @param sources directives of the Content-Security-Policy, such as `script-src 'self'`
 */
export const securityHeaders = (...sources: readonly string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; background: light-dark(#fff, #161b26); color: light-dark(#1b2240, #e8ecf5); font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 38rem; margin: 12vh auto; padding: 0 24px; }
  h1 { font-size: 1.5rem; line-height: 1.3; }
  code { padding: 2px 6px; border-radius: 4px; background: light-dark(#eef1f8, #263043); font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
`;

/** The browser applies only this style and loads nothing. */
const SECURITY_HEADERS = securityHeaders(
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:', // The empty icon.
);

const respondMessage = (status: number, title: string, content: string): OutgoingResponse => ({
  status,
  headers: {
    ...SECURITY_HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    vary: 'Accept',
  },
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`,
});

/** Responds to a browser at a path beside the endpoint's with links to it, which are relative, so that they work behind any path prefix. */
export const respondLinks = (path: string, endpoints: readonly string[]): OutgoingResponse =>
  respondMessage(
    404,
    'There is no page here',
    endpoints
      .map((endpoint) => {
        const address = path === '/' ? `.${endpoint}` : `..${endpoint.slice(endpoint.lastIndexOf('/'))}`;
        return `<p>The GraphQL endpoint is <a href="${address}"><code>${endpoint}</code></a>.</p>`;
      })
      .join('\n'),
  );

/** Responds to a browser if GraphiQL is off. The page says how to turn it on, and nothing about this gateway. */
export const respondTurnedOff = (): OutgoingResponse =>
  respondMessage(
    404,
    'This is a GraphQL endpoint',
    `<p>It accepts GraphQL requests from apps and servers. GraphiQL, the page for trying queries in a browser, is off.</p>
<p>If you run this server, turn it on in one of these ways:</p>
<ul>
<li>on the command line: <code>--graphiql on</code></li>
<li>in the environment: <code>NOTIGRAPH_GRAPHIQL=on</code></li>
<li>in the configuration file: <code>graphiql: on</code></li>
<li>in your own server: <code>createGateway({ graphiql: true, … })</code></li>
</ul>`,
  );

/** Responds to a browser if GraphiQL is on, but its page has not been built. */
export const respondNotBuilt = (): OutgoingResponse =>
  respondMessage(
    503,
    'GraphiQL has not been built',
    '<p>Run <code>npm run build:graphiql</code>, then reload this page. The GraphQL endpoint itself works.</p>',
  );

/** Notigraph's icon: a bell in the middle of a graph. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5bd0"/><path d="M7 9.5 16 5l9 4.5v13L16 27l-9-4.5z" fill="none" stroke="#fff" stroke-opacity=".55" stroke-width="1.6"/><g fill="#fff"><circle cx="7" cy="9.5" r="2"/><circle cx="25" cy="9.5" r="2"/><circle cx="7" cy="22.5" r="2"/><circle cx="25" cy="22.5" r="2"/><path d="M16 9.5a4.3 4.3 0 0 0-4.3 4.3v3.4l-1.5 2.3h11.6l-1.5-2.3v-3.4A4.3 4.3 0 0 0 16 9.5zm-1.9 11.2a2 2 0 0 0 3.8 0z"/></g></svg>';

/** Returns the HTML of the page. It has relative addresses only, so it works behind any path prefix. */
export const renderPage = (config: PageConfig, files: { script: string; style: string }): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Notigraph</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="stylesheet" href="?${FILE_PARAMETER}=${files.style}">
<script id="config" type="application/json">${JSON.stringify(config).replaceAll('<', '\\u003c')}</script>
<script type="module" src="?${FILE_PARAMETER}=${files.script}"></script>
</head>
<body>
<div id="root" class="graphiql-container"><p>GraphiQL is loading. If it doesn’t appear, reload this page.</p></div>
<noscript>GraphiQL needs JavaScript. The endpoint accepts GraphQL requests without it.</noscript>
</body>
</html>
`;
