import { expect, it } from 'vitest';
import { listSources, readImports, readSource } from './support/imports.ts';

/** Imports that a part of `src/` may have from outside itself. */
interface Rule {
  /** Other parts, including type imports. */
  parts?: readonly string[];
  /** Packages and modules of Node.js. */
  modules?: readonly string[];
}

/**
 * Parts of `src/`, which are files and folders, and their imports. A folder does not include the parts in it that have their own line.
 * Parts can import only parts of the same top-level entry or of later lines, so that imports point downward.
 */
const PARTS: Readonly<Record<string, Rule>> = {
  cli: {
    parts: [
      'cli/cluster',
      'cli/commands',
      'cli/config',
      'gateway.ts',
      'http',
      'graphql',
      'graphql/documents',
      'telemetry',
      'rate-limits',
      'settings',
      'sandbox',
      'lib',
    ],
    modules: ['node:cluster', 'node:crypto', 'node:os', 'node:util', 'node:v8', 'graphql', 'pino', 'zod'],
  },
  'cli/commands': {
    parts: ['cli', 'cli/completion', 'cli/config', 'sandbox'],
    modules: ['node:readline/promises'],
  },
  'cli/completion': { parts: ['cli/commands'] },
  'cli/cluster': { modules: ['node:cluster', 'node:timers/promises', 'pino', 'zod'] },
  'cli/config': {
    parts: ['cli', 'cli/commands', 'graphql/documents', 'auth', 'settings', 'lib'],
    modules: ['node:path', 'node:util', 'yaml', 'zod'],
  },
  'index.ts': { parts: ['gateway.ts'] },
  'gateway.ts': {
    parts: [
      'http',
      'http/graphiql',
      'graphql',
      'graphql/documents',
      'graphql/executor',
      'telemetry',
      'auth',
      'rate-limits',
      'upstream',
      'upstream/transport',
      'settings',
      'lib',
    ],
    modules: ['node:http', 'graphql-yoga', 'pino'],
  },
  http: {
    parts: [
      'http/graphiql',
      'graphql',
      'graphql/documents',
      'telemetry',
      'auth',
      'rate-limits',
      'upstream',
      'upstream/transport',
      'settings',
      'lib',
    ],
    modules: [
      'node:crypto',
      'node:fs',
      'node:http',
      'node:net',
      'node:perf_hooks',
      'node:timers/promises',
      'node:v8',
      'graphql',
      'graphql-yoga',
      'pino',
    ],
  },
  'http/graphiql': {
    parts: ['http', 'graphql/documents', 'settings', 'lib'],
    modules: ['node:crypto', 'node:fs/promises', 'node:util', 'node:zlib'],
  },
  // Runs in the browser, except for its build.
  'http/graphiql/page': {
    parts: ['http/graphiql'],
    modules: [
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:path',
      'node:url',
      'node:util',
      'node:zlib',
      '@graphiql/plugin-doc-explorer',
      '@graphiql/plugin-doc-explorer/style.css',
      '@graphiql/plugin-history',
      '@graphiql/plugin-history/style.css',
      '@graphiql/react',
      '@graphiql/react/setup-workers/vite',
      '@graphiql/react/style.css',
      '@graphiql/toolkit',
      'graphql',
      'react',
      'react-dom/client',
      'vite',
    ],
  },
  graphql: {
    parts: [
      'graphql/types',
      'graphql/loaders',
      'graphql/executor',
      'auth',
      'upstream',
      'upstream/resources',
      'upstream/transport',
      'upstream/errors',
      'settings',
      'lib',
    ],
    modules: ['node:crypto', '@pothos/core', 'graphql', 'graphql-yoga', 'pino'],
  },
  'graphql/types': { parts: ['graphql', 'upstream/resources'], modules: ['graphql'] },
  'graphql/loaders': {
    parts: ['upstream', 'upstream/resources', 'upstream/transport', 'upstream/errors', 'lib'],
    modules: ['dataloader'],
  },
  'graphql/documents': {
    parts: ['graphql/executor', 'settings', 'lib'],
    modules: ['node:crypto', 'node:fs', 'node:path', 'graphql', 'graphql-yoga', 'lru-cache', 'pino', 'zod'],
  },
  'graphql/executor': {
    parts: ['graphql/documents', 'settings'],
    modules: [
      'graphql',
      'graphql/jsutils/inspect.js',
      'graphql/jsutils/printPathArray.js',
      'graphql-yoga',
      'lru-cache',
    ],
  },
  telemetry: {
    parts: ['auth', 'upstream', 'upstream/transport', 'settings'],
    modules: ['node:crypto', 'node:perf_hooks', 'lru-cache', 'pino', 'prom-client'],
  },
  auth: { parts: ['settings', 'lib'], modules: ['node:crypto', 'jose', 'lru-cache', 'pino', 'zod'] },
  'rate-limits': { parts: ['settings'], modules: ['node:crypto', '@redis/client', 'pino'] },
  upstream: {
    parts: ['upstream/resources', 'upstream/resilience', 'upstream/transport', 'upstream/errors', 'settings'],
  },
  'upstream/resources': { parts: ['upstream'] },
  'upstream/resilience': { parts: ['upstream/transport', 'upstream/errors', 'settings'], modules: ['lru-cache'] },
  'upstream/transport': {
    parts: ['upstream', 'upstream/resilience', 'upstream/errors', 'settings', 'lib'],
    modules: ['node:buffer', 'node:net', 'undici'],
  },
  'upstream/errors': { parts: ['upstream/resilience', 'upstream/transport', 'lib'] },
  settings: { parts: ['lib'], modules: ['leven', 'zod'] },
  lib: { modules: ['node:fs', 'node:path', 'lru-cache', 'pino'] },
  sandbox: {
    modules: [
      'node:crypto',
      'node:events',
      'node:fs',
      'node:http',
      'node:path',
      'node:sqlite',
      'node:stream/promises',
      'openapi-backend',
    ],
  },
  client: { modules: ['graphql'] }, // Imports only types.
};

const NAMES = Object.keys(PARTS);

/** Removes `src/`, which the table omits. */
const inSrc = (file: string): string => file.replace(/^src\//, '');

const sources = listSources('src');
const files = sources.map(inSrc);

const imports = sources
  .flatMap(readImports)
  .map(({ from, to, isModule }) => ({ from: inSrc(from), to: inSrc(to), isModule }));

/** Returns the part that a file belongs to, which is the longest matching name. */
const partOf = (file: string): string | undefined =>
  NAMES.filter((name) => file === name || file.startsWith(`${name}/`))
    .sort((a, b) => a.length - b.length)
    .at(-1);

/** Returns the top-level entry of a part. */
const entryOf = (part: string): string => part.split('/')[0] ?? part;

/** Imports of each part, in the format of the table. */
const used = Map.groupBy(
  imports.map(({ from, to, isModule }) => ({
    part: partOf(from),
    to: isModule ? to : (partOf(to) ?? to),
    isModule,
  })),
  ({ part }) => part,
);

const importsOf = (name: string, isModule: boolean): string[] => [
  ...new Set((used.get(name) ?? []).filter((found) => found.isModule === isModule).map(({ to }) => to)),
];

it('every file belongs to a part, and every part has files', () => {
  expect(files.filter((file) => partOf(file) === undefined)).toEqual([]);
  expect(NAMES.filter((name) => !files.some((file) => partOf(file) === name))).toEqual([]);
});

it('src has thirteen entries', () => {
  expect(new Set(files.map(entryOf))).toEqual(new Set(NAMES.map(entryOf)));
  expect(new Set(NAMES.map(entryOf)).size).toBe(13);
});

it.each(NAMES)('%s imports exactly what the table permits', (name) => {
  const { parts = [], modules = [] } = PARTS[name] ?? {};
  expect(
    importsOf(name, false)
      .filter((part) => part !== name)
      .sort(),
  ).toEqual([...parts].sort());
  expect(importsOf(name, true).sort()).toEqual([...modules].sort());
});

it('imports point downward in the table', () => {
  const upward = NAMES.flatMap((name, line) =>
    (PARTS[name]?.parts ?? [])
      .filter((part) => entryOf(part) !== entryOf(name) && NAMES.indexOf(part) <= line)
      .map((part) => `${name} imports ${part}`),
  );
  expect(upward).toEqual([]);
});

it('only the program entry point accesses the process', () => {
  const touching = sources.filter((file) => /\bprocess\.\w|(?:\(|, )process\)/.test(readSource(file)));
  expect(touching.map(inSrc).sort()).toEqual(['cli/main.ts']);
});

it('no imports are circular, including type imports', () => {
  const edges = Map.groupBy(
    imports.filter(({ isModule }) => !isModule),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    expect(path).not.toContain(file);
    if (!done.has(file)) {
      for (const { to } of edges.get(file) ?? []) {
        visit(to, [...path, file]);
      }
      done.add(file);
    }
  };
  for (const file of files) {
    visit(file, []);
  }
});
