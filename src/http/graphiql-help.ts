import { ERROR_CODES } from '../settings/error-codes.ts';
import { withoutLinks } from '../settings/without-links.ts';

const STYLE = `<style>
  #error-help {
    position: fixed; right: 24px; bottom: 24px; z-index: 10; max-width: 26rem; padding: 12px 16px;
    border: 1px solid #8c96ad; border-radius: 8px; background: #fff; color: #1b2240; font: 14px/1.5 system-ui, sans-serif;
  }
  #error-help[hidden] { display: none; }
  #error-help p { margin: 4px 0 0; }
  @media (prefers-color-scheme: dark) { body:not(.graphiql-light) #error-help { background: #212a3b; color: #e8ecf5; } }
  body.graphiql-dark #error-help { background: #212a3b; color: #e8ecf5; }
</style>`;

/** Shows the entry of the table for the first error of each response. Runs in the browser. */
const SCRIPT = `
  const help = document.createElement('aside');
  help.id = 'error-help';
  help.hidden = true;
  help.setAttribute('role', 'status');
  const show = (code) => {
    const entry = ERROR_CODES[code];
    help.hidden = entry === undefined;
    if (entry !== undefined) {
      const title = Object.assign(document.createElement('strong'), { textContent: code });
      const lines = entry.map((textContent) => Object.assign(document.createElement('p'), { textContent }));
      help.replaceChildren(title, ...lines);
    }
  };
  addEventListener('DOMContentLoaded', () => document.body.append(help));
  const send = window.fetch;
  window.fetch = async (...args) => {
    const response = await send(...args);
    response.clone().json().then((body) => show(body.errors?.[0]?.extensions?.code), () => show());
    return response;
  };`;

/** Returns the part of GraphiQL's page that explains error codes, from the same table as docs/errors.md. */
export function writeErrorHelp(): string {
  const entries = Object.entries(ERROR_CODES).map(([code, { meaning, remedy }]) => [
    code,
    [meaning, remedy].map(toText),
  ]);
  const table = JSON.stringify(Object.fromEntries(entries)).replaceAll('<', '\\u003c');
  return `${STYLE}\n<script>\n  {\n  const ERROR_CODES = ${table};${SCRIPT}\n  }\n</script>`;
}

/** Removes Markdown's marks and links. */
const toText = (markdown: string): string => withoutLinks(markdown).replaceAll('`', '');
