import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { digestSources } from '../../src/http/graphiql/page/sources.ts';

const ROOT = new URL('../../', import.meta.url);

const MANIFEST = new URL('dist/graphiql/manifest.json', ROOT);

/** Builds GraphiQL's page before the tests if its sources have changed since the last build. */
export default function buildGraphiql(): void {
  const isCurrent = existsSync(MANIFEST) && JSON.parse(readFileSync(MANIFEST, 'utf8')).sources === digestSources();
  if (!isCurrent) {
    execFileSync(process.execPath, [fileURLToPath(new URL('src/http/graphiql/page/build.js', ROOT))], {
      stdio: 'inherit',
    });
  }
}
