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
      'cli/import',
      'cli/reload',
      'cli/service',
      'gateway.ts',
      'http',
      'graphql',
      'graphql/documents',
      'telemetry',
      'upstream/cache',
      'settings',
      'sandbox',
      'lib',
    ],
    modules: [
      'node:cluster',
      'node:crypto',
      'node:fs',
      'node:os',
      'node:path',
      'node:util',
      'node:v8',
      'graphql',
      'pino',
      'zod',
    ],
  },
  'cli/commands': {
    parts: ['cli', 'cli/check', 'cli/completion', 'cli/config', 'cli/doctor', 'cli/import', 'sandbox'],
    modules: ['node:readline/promises'],
  },
  'cli/check': {
    parts: [
      'cli/commands',
      'cli/config',
      'graphql',
      'graphql/documents',
      'graphql/federation',
      'graphql/tools',
      'http/graphiql',
      'sandbox',
      'auth',
      'settings',
      'lib',
    ],
    modules: ['node:fs'],
  },
  'cli/reload': {
    parts: ['cli', 'cli/commands', 'cli/config', 'gateway.ts', 'telemetry', 'settings', 'lib'],
    modules: ['node:fs', 'node:http', 'node:util', 'pino'],
  },
  'cli/doctor': {
    parts: [
      'cli/commands',
      'cli/config',
      'cli/service',
      'upstream',
      'upstream/contract',
      'upstream/errors',
      'upstream/resilience',
      'upstream/transport',
      'lib',
    ],
    modules: ['node:dns/promises', 'node:net', 'node:tls', 'node:util'],
  },
  'cli/import': {
    parts: [
      'cli',
      'cli/commands',
      'cli/config',
      'cli/service',
      'graphql',
      'telemetry',
      'upstream',
      'upstream/cache',
      'upstream/resources',
      'upstream/resilience',
      'upstream/transport',
      'upstream/errors',
      'settings',
      'lib',
    ],
    modules: [
      'node:buffer',
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:os',
      'node:path',
      'csv-parse',
      'graphql',
      'pino',
      'zod',
    ],
  },
  'cli/service': {
    parts: ['cli/commands', 'cli/config', 'auth', 'settings', 'lib'],
    modules: ['node:readline/promises', 'node:stream', 'node:stream/consumers'],
  },
  'cli/completion': { parts: ['cli/commands'] },
  'cli/cluster': {
    parts: ['cli/commands', 'http', 'telemetry', 'settings', 'lib'],
    modules: ['node:child_process', 'node:net', 'node:timers/promises', 'pino', 'zod'],
  },
  'cli/config': {
    parts: [
      'cli',
      'cli/commands',
      'graphql/documents',
      'graphql/federation',
      'telemetry',
      'auth',
      'upstream/cache',
      'upstream/transport',
      'redis',
      'settings',
      'lib',
    ],
    modules: ['node:net', 'node:path', 'node:util', 'yaml', 'zod'],
  },
  testing: {
    parts: ['gateway.ts', 'sandbox', 'settings', 'client'],
    modules: ['node:http', 'node:net', 'node:stream', 'node:stream/consumers', 'node:timers/promises', 'pino', 'zod'],
  },
  'testing/msw': { parts: ['http', 'settings', 'client', 'lib'], modules: ['msw'] },
  'index.ts': { parts: ['gateway.ts'] },
  'gateway.ts': {
    parts: [
      'gateway-types.ts',
      'gateway-state.ts',
      'http',
      'http/graphiql',
      'http/mcp',
      'graphql',
      'graphql/documents',
      'graphql/tools',
      'telemetry',
      'auth',
      'upstream',
      'redis',
      'settings',
      'lib',
    ],
  },
  'gateway-types.ts': {
    parts: ['http', 'http/mcp', 'graphql', 'telemetry', 'upstream', 'upstream/transport', 'settings'],
    modules: ['node:http', 'pino'],
  },
  'gateway-state.ts': {
    parts: ['telemetry', 'auth', 'rate-limits', 'upstream/cache'],
    modules: ['node:crypto', 'pino'],
  },
  http: {
    parts: [
      'http/graphiql',
      'graphql',
      'graphql/documents',
      'graphql/executor',
      'telemetry',
      'auth',
      'rate-limits',
      'upstream',
      'upstream/resilience',
      'upstream/transport',
      'settings',
      'lib',
    ],
    modules: [
      'node:buffer',
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
    parts: ['http', 'graphql/documents', 'graphql/explain', 'auth', 'settings', 'lib'],
    modules: ['node:crypto', 'node:fs/promises', 'node:util', 'node:zlib'],
  },
  'http/mcp': {
    parts: ['http', 'graphql/documents', 'graphql/tools', 'auth', 'upstream/transport', 'settings', 'lib'],
    modules: [
      'node:module',
      'node:stream',
      'node:timers/promises',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/stdio',
      'graphql',
      'pino',
    ],
  },
  // Runs in the browser, except for its build.
  'http/graphiql/page': {
    parts: ['http/graphiql', 'client'],
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
      'graphql/explain',
      'graphql/loaders',
      'graphql/documents',
      'graphql/executor',
      'graphql/federation',
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
  'graphql/types': { parts: ['graphql', 'upstream/resources'], modules: [] },
  'graphql/explain': {
    parts: ['graphql', 'graphql/loaders', 'graphql/executor', 'upstream', 'upstream/transport'],
    modules: ['node:timers/promises', 'graphql'],
  },
  'graphql/loaders': {
    parts: ['upstream', 'upstream/resources', 'upstream/transport', 'upstream/errors', 'graphql'],
    modules: ['dataloader'],
  },
  'graphql/documents': {
    parts: ['graphql/executor', 'settings', 'lib'],
    modules: ['node:crypto', 'node:fs', 'node:path', 'graphql', 'graphql-yoga', 'lru-cache', 'pino', 'zod'],
  },
  'graphql/tools': { parts: ['graphql/documents', 'settings', 'lib'], modules: ['graphql'] },
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
  'graphql/federation': { parts: ['graphql', 'settings', 'lib'], modules: ['node:crypto', 'graphql'] },
  telemetry: {
    parts: [
      'auth',
      'upstream',
      'upstream/cache',
      'upstream/contract',
      'upstream/resilience',
      'upstream/transport',
      'upstream/errors',
      'settings',
      'lib',
    ],
    modules: [
      'node:crypto',
      'node:fs',
      'node:path',
      'node:perf_hooks',
      '@opentelemetry/api',
      'lru-cache',
      'pino',
      'prom-client',
    ],
  },
  auth: { parts: ['settings', 'lib'], modules: ['node:crypto', 'jose', 'lru-cache', 'pino', 'zod'] },
  'rate-limits': { parts: ['redis', 'settings', 'lib'], modules: ['node:crypto', 'pino'] },
  upstream: {
    parts: [
      'upstream/cache',
      'upstream/resources',
      'upstream/resilience',
      'upstream/transport',
      'upstream/contract',
      'upstream/errors',
      'settings',
    ],
    modules: ['pino'],
  },
  'upstream/cache': {
    parts: ['upstream', 'upstream/resilience', 'upstream/transport', 'upstream/errors', 'redis', 'settings', 'lib'],
    modules: ['node:crypto', 'node:timers/promises', 'node:util', 'node:zlib', 'lru-cache', 'pino'],
  },
  'upstream/resources': { parts: ['upstream'] },
  'upstream/resilience': { parts: ['upstream/transport', 'upstream/errors', 'settings'], modules: ['lru-cache'] },
  'upstream/transport': {
    parts: ['upstream', 'upstream/resilience', 'upstream/contract', 'upstream/errors', 'settings', 'lib'],
    modules: ['node:buffer', 'node:crypto', 'node:net', 'node:tls', 'undici'],
  },
  'upstream/contract': { parts: ['upstream/errors', 'lib'] },
  'upstream/errors': { parts: ['upstream/resilience', 'upstream/transport', 'lib'] },
  redis: {
    parts: ['settings', 'lib'],
    modules: [
      'node:async_hooks',
      'node:crypto',
      'node:diagnostics_channel',
      'node:net',
      'node:tls',
      '@redis/client',
      'pino',
    ],
  },
  settings: { parts: ['lib'], modules: ['leven', 'zod'] },
  lib: { modules: ['node:crypto', 'node:fs', 'node:path', 'node:url', 'lru-cache', 'pino'] },
  sandbox: {
    modules: [
      'node:crypto',
      'node:events',
      'node:fs',
      'node:http',
      'node:path',
      'node:sqlite',
      'node:stream/promises',
      'node:url',
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

it('src has seventeen entries', () => {
  expect(new Set(files.map(entryOf))).toEqual(new Set(NAMES.map(entryOf)));
  expect(new Set(NAMES.map(entryOf)).size).toBe(17);
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
