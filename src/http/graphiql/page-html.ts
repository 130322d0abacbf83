import type { PageConfig } from './page-config.ts';

/** Notigraph's icon: a bell in the middle of a graph. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5bd0"/><path d="M7 9.5 16 5l9 4.5v13L16 27l-9-4.5z" fill="none" stroke="#fff" stroke-opacity=".55" stroke-width="1.6"/><g fill="#fff"><circle cx="7" cy="9.5" r="2"/><circle cx="25" cy="9.5" r="2"/><circle cx="7" cy="22.5" r="2"/><circle cx="25" cy="22.5" r="2"/><path d="M16 9.5a4.3 4.3 0 0 0-4.3 4.3v3.4l-1.5 2.3h11.6l-1.5-2.3v-3.4A4.3 4.3 0 0 0 16 9.5zm-1.9 11.2a2 2 0 0 0 3.8 0z"/></g></svg>';

/** Parameter of the endpoint's URL that names a file of the page. Hosts that pass only the exact path to the gateway thus serve the files too. */
export const FILE_PARAMETER = 'graphiql';

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
