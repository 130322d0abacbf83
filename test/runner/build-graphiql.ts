// Builds GraphiQL's page.

import { buildOutdated } from './build.ts';

const PAGE = 'packages/graphiql';

export default function buildGraphiql(): void {
  buildOutdated(
    'dist/graphiql/manifest.json',
    [
      'src/graphiql/pages/page-html.ts',
      `${PAGE}/src`,
      `${PAGE}/vite.config.ts`,
      'packages/client/src',
      'src/lib/text.ts',
    ],
    [`${PAGE}/build.js`],
  );
}
