import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Files in the page. */
const SOURCES = ['src/http/graphiql/page-html.ts', 'src/http/graphiql/page/**', 'src/client/**', 'package-lock.json'];

const BUILT = 'dist/graphiql/manifest.json';

const changedAt = (file: string): number => statSync(ROOT + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Builds GraphiQL's page before the tests if a file or a folder of it has changed since the last build. */
export default function buildGraphiql(): void {
  const builtAt = changedAt(BUILT);
  if (globSync(SOURCES, { cwd: ROOT }).some((file) => changedAt(file) > builtAt)) {
    execFileSync(process.execPath, [`${ROOT}src/http/graphiql/page/build.js`], { stdio: 'inherit' });
  }
}
