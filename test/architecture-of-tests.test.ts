import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { BUILDS, TAKES_LONG, TAKES_SAMPLES } from './runner/projects.ts';
import { type Import, listSources, readImports } from './support/imports.ts';

/** Modules that every test may import: entry points of the gateway, the sandbox and the client, and types of the service. */
const FRONT_DOOR = [
  'schema/trusted-documents.json',
  'src/client/index.ts',
  'src/gateway.ts',
  'src/graphql/documents/shipped-operations.ts',
  'src/graphql/schema.ts',
  'src/http/server.ts',
  'src/sandbox/sandbox.ts',
  'src/settings/rate-limits.ts',
  'src/settings/scopes.ts',
  'src/settings/settings.ts',
];

/**
 * Folders of tests, and their additional imports. All tests may import `FRONT_DOOR`, test/support, and the modules of the part of src/ with
 * the same name as the folder. Bench may import only the modules listed here.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  test: [], // Tests of the project as a whole.
  'test/add-a-noun': [
    'src/sandbox/open-database.ts',
    'src/sandbox/resources/index.gen.ts',
    'test/sandbox-versions/recorded-files.ts',
  ],
  'test/attacks': ['src/http/duplicate-headers.ts', 'src/http/open-files.ts'],
  'test/auth': [
    'src/graphql/documents/required-scopes.ts',
    'src/lib/files/file-watcher.ts',
    'src/lib/files/secret-files.ts',
  ],
  'test/browser': ['examples/dashboard/dev/issuer.ts'],
  'test/cli': ['examples/dashboard/package.json', 'package.json', 'src/lib/version.ts', 'src/settings/setting.ts'],
  'test/client': ['codegen/documents.ts', 'codegen/manifest.ts', 'codegen/typed-documents.ts'],
  'test/deploy': ['package.json', 'src/lib/is-record.ts'],
  'test/docs': [
    'bench/report.ts',
    'bench/results.ts',
    'bench/targets.ts',
    'bench/unique-document.ts',
    'src/cli/check/format-report.ts',
    'src/cli/check/report.ts',
    'src/cli/command-line.ts',
    'src/cli/commands/index.ts',
    'src/cli/config/config-error.ts',
    'src/cli/help.ts',
    'src/graphql/documents/manifest.ts',
  ],
  'test/graphql': ['src/lib/is-record.ts', 'src/settings/clients.ts'],
  'test/guards': [],
  'test/http': ['src/graphql/documents/manifest.ts'],
  'test/package': ['package.json', 'src/lib/version.ts'],
  'test/rate-limits': [],
  'test/redis': [],
  'test/runner': ['src/http/graphiql/page/sources.ts'],
  'test/sandbox': [],
  'test/sandbox-versions': [
    'src/sandbox/database.ts',
    'src/sandbox/migrations.ts',
    'src/sandbox/open-database.ts',
    'src/sandbox/resource.ts',
    'src/sandbox/resources/index.gen.ts',
  ],
  'test/settings': ['src/lib/is-record.ts'],
  'test/slow': ['src/graphql/context.ts', 'src/upstream/cache/memory-store.ts', 'src/upstream/cache/store.ts'],
  'test/soak': [],
  'test/support': [
    'examples/dashboard/dev/issuer.ts',
    'package.json',
    'src/cli/command-line.ts',
    'src/cli/commands/index.ts',
    'src/cli/config/config-error.ts',
    'src/cli/config/create-config.ts',
    'src/cli/config/environment.ts',
    'src/cli/config/load-config.ts',
    'src/client/documents.gen.ts',
    'src/graphql/executor/execute.ts',
    'src/graphql/executor/limits.ts',
    'src/graphql/explain/explanation.ts',
    'src/lib/is-record.ts',
    'src/rate-limits/redis-rate-limiter.ts',
    'src/settings/parse-settings.ts',
    'src/upstream/cache/redis-store.ts',
    'src/upstream/cache/store.ts',
    'src/upstream/errors/errors.ts',
    'src/upstream/resources/feeds.ts',
    'src/upstream/resources/notification-groups.ts',
    'src/upstream/resources/subscribers.ts',
    'src/upstream/resources/workflows.ts',
    'src/upstream/transport/observer.ts',
  ],
  'test/telemetry': [],
  'test/testing': [],
  'test/types': ['src/graphql/explain/explanation.ts', 'src/http/upstream-report.ts', 'src/testing/msw/index.ts'],
  'test/upstream': ['src/auth/credentials.ts', 'src/rate-limits/memory-rate-limiter.ts'],
  bench: ['src/auth/identity.ts', 'src/settings/scopes.ts', 'src/telemetry/tracing/tracing.ts'],
};

/** Returns `bench`, the folder in test/, or `test` for files directly in it. */
const folderOf = (file: string): string => /^(?:bench|test\/[^/]+(?=\/)|test)/.exec(file)?.[0] ?? file;

const sources = ['test', 'bench'].flatMap(listSources);
const imports = sources.flatMap(readImports).filter(({ isModule }) => !isModule);

function isOrdinary({ from, to }: Import): boolean {
  const folder = folderOf(from);
  if (folder === folderOf(to)) {
    return true;
  }
  const part = folder.replace(/^test\//, 'src/');
  return folder !== 'bench' && (to.startsWith(`${part}/`) || to.startsWith('test/support/') || FRONT_DOOR.includes(to));
}

it('the table lists every folder of tests', () => {
  expect([...new Set(sources.map(folderOf))].sort()).toEqual(Object.keys(FOLDERS).sort());
});

it.each(Object.entries(FOLDERS))('%s imports exactly what the table permits', (folder, permitted) => {
  const others = imports.filter((found) => folderOf(found.from) === folder && !isOrdinary(found)).map(({ to }) => to);
  expect([...new Set(others)].sort()).toEqual(permitted);
});

it('every module in FRONT_DOOR is used by tests of several folders', () => {
  const usersOf = (module: string) =>
    new Set(imports.filter(({ to }) => to === module).map(({ from }) => folderOf(from)));
  expect(FRONT_DOOR.filter((module) => usersOf(module).size < 2)).toEqual([]);
});

it('the tests of npm run test:quick start neither processes nor browsers', () => {
  const isSlower = (file: string) =>
    [...TAKES_LONG, ...TAKES_SAMPLES, ...BUILDS].some((glob) => matchesGlob(file, glob));
  const starts = new Set(['playwright-core', 'node:child_process']);
  for (let size = 0; size !== starts.size; ) {
    size = starts.size;
    for (const { from, to } of sources.flatMap(readImports)) {
      if (starts.has(to)) {
        starts.add(from);
      }
    }
  }
  const quick = sources.filter((file) => file.endsWith('.test.ts') && !isSlower(file));
  expect(quick.filter((file) => starts.has(file))).toEqual([]);
  expect(quick.length).toBeGreaterThan(30);
});

it('no file imports a test', () => {
  expect(imports.filter(({ to }) => to.endsWith('.test.ts'))).toEqual([]);
});

it('only test and bench import from test and bench', () => {
  const others = ['src', 'codegen', 'examples'].flatMap(listSources).flatMap(readImports);
  expect(others.filter(({ to }) => /^(?:test|bench)\//.test(to))).toEqual([]);
});
