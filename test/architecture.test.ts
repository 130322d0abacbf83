import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { BUILDS, TAKES_LONG, TAKES_SAMPLES } from './runner/projects.ts';
import { listSources, readImports, readSource } from './support/imports.ts';

/** Entries of `src/`. Imports point downward in this list, types included. */
const ENTRIES = [
  'cli',
  'testing',
  'index.ts',
  'modules',
  'gateway.ts',
  'server',
  'http',
  'graphql',
  'telemetry',
  'auth',
  'rate-limits',
  'upstream',
  'redis',
  'settings',
  'lib',
  'sandbox',
  'client',
];

/** Entries that import nothing else from `src/`. */
const ISOLATED = ['sandbox', 'client', 'lib'];

/** Removes `src/`, which the list omits. */
const inSrc = (file: string): string => file.replace(/^src\//, '');

const sources = listSources('src');
const files = sources.map(inSrc);
const imports = sources
  .flatMap(readImports)
  .filter(({ isModule }) => !isModule)
  .map(({ from, to }) => ({ from: inSrc(from), to: inSrc(to) }));

const entryOf = (file: string): string => file.split('/')[0] ?? file;

const describeImport = ({ from, to }: { from: string; to: string }) => `${from} imports ${to}`;

it('src has the entries of the list', () => {
  expect(new Set(files.map(entryOf))).toEqual(new Set(ENTRIES));
});

it('imports point downward', () => {
  const upward = imports.filter(({ from, to }) => ENTRIES.indexOf(entryOf(to)) < ENTRIES.indexOf(entryOf(from)));
  expect(upward.map(describeImport)).toEqual([]);
});

it('the sandbox, the client and lib import nothing else, and server and http do not know each other', () => {
  const isForbidden = (from: string, to: string) =>
    from !== to && (ISOLATED.includes(from) || (from === 'server' && to === 'http'));
  expect(imports.filter(({ from, to }) => isForbidden(entryOf(from), entryOf(to))).map(describeImport)).toEqual([]);
});

it('the executor imports nothing of the gateway but lib and the places of errors', () => {
  const allowed = /^(?:graphql\/executor\/|lib\/|graphql\/located-error\.ts$)/;
  const others = imports.filter(({ from, to }) => from.startsWith('graphql/executor/') && !allowed.test(to));
  expect(others.map(describeImport)).toEqual([]);
});

it('only the program entry point accesses the process', () => {
  // The page of GraphiQL, which runs in a browser, shows programs for Node.js.
  const programs = sources.filter((file) => !file.startsWith('src/http/graphiql/page/'));
  const touching = programs.filter((file) => /\bprocess\.\w|(?:\(|, )process\)/.test(readSource(file)));
  expect(touching).toEqual(['src/cli/main.ts']);
});

/** Folders of `src/`. A circle of files in several folders is also one of folders, or points upward. */
const folders = new Set(
  files.flatMap((file) =>
    file
      .split('/')
      .slice(0, -1)
      .map((_, i, names) => names.slice(0, i + 1).join('/')),
  ),
);

it.each([...folders])('the files and folders in %s do not import each other in a circle', (folder) => {
  const roomOf = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
  const between = imports.flatMap(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)];
    return room === undefined || other === undefined || room === other ? [] : [{ from: room, to: other }];
  });
  expect(findCircle(between)).toBeUndefined();
});

it('the tests of npm run test:quick start neither processes nor browsers', () => {
  const isSlower = (file: string) =>
    [...TAKES_LONG, ...TAKES_SAMPLES, ...BUILDS].some((glob) => matchesGlob(file, glob));
  const ofTests = listSources('test').flatMap(readImports);
  const starts = new Set(['playwright-core', 'node:child_process']);
  for (let size = 0; size !== starts.size; ) {
    size = starts.size;
    for (const { from, to } of ofTests) {
      if (starts.has(to)) {
        starts.add(from);
      }
    }
  }
  const quick = listSources('test').filter((file) => file.endsWith('.test.ts') && !isSlower(file));
  expect(quick.filter((file) => starts.has(file))).toEqual([]);
  expect(quick.length).toBeGreaterThan(30);
});

it('only test and bench import from test and bench', () => {
  const others = ['src', 'codegen', 'examples'].flatMap(listSources).flatMap(readImports);
  expect(others.filter(({ to }) => /^(?:test|bench)\//.test(to)).map(describeImport)).toEqual([]);
});

/** Returns a path of imports that ends where it begins; undefined if there is none. */
function findCircle(edges: readonly { from: string; to: string }[]): readonly string[] | undefined {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) {
      return [...path.slice(path.indexOf(node)), node];
    }
    if (done.has(node)) {
      return undefined;
    }
    for (const { to } of targets.get(node) ?? []) {
      const circle = visit(to, [...path, node]);
      if (circle !== undefined) {
        return circle;
      }
    }
    done.add(node);
    return undefined;
  };
  return [...targets.keys()].map((node) => visit(node, [])).find((circle) => circle !== undefined);
}
