import type { SandboxDatabase } from './database.ts';
import { DEVELOPMENT, type Environment, PRODUCTION, SANDBOX_KEYS } from './environments.ts';
import type { Resource } from './resource.ts';
import type { SandboxResponse } from './response.ts';
import { type Row, text } from './rows.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
  .environments { display: grid; gap: 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
  h2 { text-transform: capitalize; }
  h3 { margin: 1.5rem 0 .25rem; }
  ul { margin: 0; padding: 0; list-style: none; }
  li { display: flex; flex-wrap: wrap; gap: 0 .75rem; padding: .15rem 0; overflow-wrap: anywhere; }
  code, pre { font: 14px/1.5 ui-monospace, monospace; }
  pre { overflow-wrap: anywhere; white-space: pre-wrap; padding: .75rem 1rem; border: 1px solid GrayText; border-radius: 6px; }
`;

/** Writes the page at `/` for a client that knows the sandbox by this host. */
export type WriteLandingPage = (host: string) => SandboxResponse;

/** Creates a function that writes a page with the API keys, a request to try, and the records of each environment. */
export function createLandingPage(resources: readonly Resource[], database: SandboxDatabase): WriteLandingPage {
  const listsOf = (environment: Environment): string[] =>
    resources.flatMap(({ recordList }) =>
      recordList === undefined ? [] : writeList(recordList.title, database.prepare(recordList.sql).all(environment.id)),
    );
  return (host) => ({
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Notigraph sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Notigraph sandbox</h1>
<p>A notification service with sample data, for development and tests. It implements the <code>/v1</code> REST API. Each API key has its own records.</p>
<pre>curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' 'http://${escapeHtml(host)}/v1/notification-groups'</pre>
<div class="environments">
${[DEVELOPMENT, PRODUCTION].map((environment) => writeEnvironment(environment, listsOf(environment))).join('\n')}
</div>
</main>
</body>
</html>
`,
  });
}

const writeEnvironment = ({ name }: Environment, lists: readonly string[]): string => `<section>
<h2>${name}</h2>
<p>API key: <code>${SANDBOX_KEYS[name]}</code></p>
${lists.join('\n')}
</section>`;

const writeList = (title: string, records: readonly Row[]): string => `<h3>${escapeHtml(title)}</h3>
${
  records.length === 0
    ? '<p>None.</p>'
    : `<ul>\n${records.map((row) => `<li><code>${escapeHtml(text(row, 'id'))}</code> <span>${escapeHtml(text(row, 'label'))}</span></li>`).join('\n')}\n</ul>`
}`;

const escapeHtml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
