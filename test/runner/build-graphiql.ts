import { buildOutdated } from './build.ts';

const PAGE = 'src/http/graphiql/page';

/** Builds GraphiQL's page. */
export default function buildGraphiql(): void {
  buildOutdated(
    'dist/graphiql/manifest.json',
    ['src/http/graphiql/page-html.ts', PAGE, 'src/client', 'src/lib/quote-for-shell.ts'],
    [`${PAGE}/build.js`],
  );
}
