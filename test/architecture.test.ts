import { expect, it } from 'vitest';
import { listSources, readImports, readSource } from './support/imports.ts';

/** Entries of `src/`. Imports point downward in this list, types included. */
const ENTRIES = [
  'index.ts',
  'gateway.ts',
  'file-checks.ts',
  'mcp',
  'graphiql',
  'http',
  'documents',
  'modules',
  'graphql',
  'executor',
  'telemetry',
  'auth',
  'rate-limits',
  'errors',
  'upstream',
  'redis',
  'network',
  'settings',
  'files',
  'lib',
];

/** Imports of each package from outside of itself. Nothing imports `cli`. */
const BETWEEN_PACKAGES: Readonly<Record<string, RegExp>> = {
  cli: /^(?:src|packages\/sandbox\/src)\//,
  client: /^never$/,
  graphiql: /^(?:src\/graphiql\/page-|src\/lib\/text\.ts|packages\/client\/src\/)/,
  sandbox: /^never$/,
  testing: /^(?:src|packages\/client\/src|packages\/sandbox\/src)\//,
};

/** All folders with sources, and the programs outside of them. */
const FOLDERS = ['src', 'packages', 'bench', 'codegen', 'deploy', 'docs/.vitepress', 'examples', 'scripts', 'test'];
const PROGRAMS = ['codegen.ts', 'vitest.config.ts'];

/** Removes `src/`, which the list omits. */
const inSrc = (file: string): string => file.replace(/^src\//, '');

const isTest = (file: string): boolean => /^(?:test|packages\/[\w-]+\/test)\//.test(file);

const sources = listSources('src');
const files = sources.map(inSrc);
const readRelativeImports = (list: readonly string[]) => list.flatMap(readImports).filter(({ isModule }) => !isModule);
const ofSrc = readRelativeImports(sources);
const imports = ofSrc.map(({ from, to }) => ({ from: inSrc(from), to: inSrc(to) }));
const ofPackages = readRelativeImports(listSources('packages').filter((file) => !isTest(file)));

const entryOf = (file: string): string => file.split('/')[0] ?? file;

const describeImport = ({ from, to }: { from: string; to: string }) => `${from} imports ${to}`;

it('src has the entries of the list', () => {
  expect(new Set(files.map(entryOf))).toEqual(new Set(ENTRIES));
});

it('imports point downward, and never out of src', () => {
  const isDownward = ({ from, to }: { from: string; to: string }) =>
    ENTRIES.indexOf(entryOf(to)) >= ENTRIES.indexOf(entryOf(from));
  expect(imports.filter((found) => !isDownward(found)).map(describeImport)).toEqual([]);
});

it('ARCHITECTURE.md opens with a drawing of the packages, what they import, and the entries of src in their order', () => {
  const [, drawing = ''] = /^# Architecture\n\n```\n([\s\S]*?)^```/m.exec(readSource('ARCHITECTURE.md')) ?? [];
  const [drawnPackages = [], drawnEntries = []] = drawing
    .split('\nsrc/')
    .map((part) =>
      [...part.matchAll(/^[├└]── ([\w.-]+)\/? +(.+)$/gm)].map(([, name = '', text = '']) => ({ name, text })),
    );
  expect(drawnEntries.map(({ name }) => name)).toEqual(ENTRIES);
  expect(drawnPackages.map(({ name }) => name).toSorted()).toEqual(Object.keys(BETWEEN_PACKAGES).toSorted());
  for (const { name, text } of drawnPackages) {
    const targets = ofPackages
      .filter(({ from }) => from.startsWith(`packages/${name}/`))
      .map(({ to }) => to.replace('packages/', '').replace(/\/.*/, ''));
    const [, list = ''] = /; imports (.+)$/.exec(text) ?? [];
    const drawn = list === 'nothing else' ? [] : list.split(', ');
    expect({ name, imports: drawn.toSorted() }).toEqual({
      name,
      imports: [...new Set(targets)].filter((target) => target !== name).toSorted(),
    });
  }
});

it('the server imports nothing else of the command, and no gateway', () => {
  const folder = 'packages/cli/src/server/';
  const ofServer = ofPackages.filter(({ from, to }) => from.startsWith(folder) && !to.startsWith(folder));
  const others = ofServer.filter(({ to }) =>
    /^(?:packages\/|src\/(?:gateway\.ts|mcp|graphiql|http|documents|modules|graphql|executor))/.test(to),
  );
  expect(ofServer.length).toBeGreaterThan(0);
  expect(others.map(describeImport)).toEqual([]);
});

it('packages import nothing but themselves and what is listed', () => {
  const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');
  const others = ofPackages.filter(({ from, to }) => folderOf(from) !== folderOf(to));
  const isAllowed = ({ from, to }: { from: string; to: string }) =>
    BETWEEN_PACKAGES[from.split('/')[1] ?? '']?.test(to);
  expect(others.length).toBeGreaterThan(0);
  expect(others.filter((found) => isAllowed(found) !== true).map(describeImport)).toEqual([]);
});

/** Room of a file: an entry of `src`, or a package. Files of the room's own folder are its door, and those of its subfolders are private. */
const roomOf = (file: string): string => /^(?:src\/[^/]+|packages\/[^/]+(?:\/src)?)/.exec(file)?.[0] ?? file;

/** Lists the imports of files that are private to another room. */
const findForcedEntries = (list: readonly { from: string; to: string }[]) =>
  list.filter(({ from, to }) => roomOf(from) !== roomOf(to) && to.slice(roomOf(to).length + 1).includes('/'));

it('a room is entered by its door: no file in a subfolder is imported from outside of the room', () => {
  const entries = [...ofSrc, ...ofPackages].filter(({ from, to }) => roomOf(from) !== roomOf(to));
  expect(entries.length).toBeGreaterThan(500);
  expect(findForcedEntries(entries).map(describeImport)).toEqual([]);
  const forced = [
    { from: 'src/gateway.ts', to: 'src/upstream/calls/call.ts' },
    { from: 'packages/cli/src/doctor/session.ts', to: 'src/upstream/transport/attempt.ts' },
    { from: 'packages/testing/src/index.ts', to: 'packages/sandbox/src/resources/index.ts' },
  ];
  expect(findForcedEntries(forced)).toEqual(forced);
  const allowed = [
    { from: 'src/upstream/service.ts', to: 'src/upstream/calls/call.ts' },
    { from: 'src/gateway.ts', to: 'src/upstream/service.ts' },
    { from: 'packages/testing/src/index.ts', to: 'packages/sandbox/src/index.ts' },
  ];
  expect(findForcedEntries(allowed)).toEqual([]);
});

it('a door has eight files at most', () => {
  const doors = Map.groupBy(
    sources.filter((file) => /^src\/[^/]+\/[^/]+$/.test(file) && !file.endsWith('.gen.ts')),
    roomOf,
  );
  const wide = [...doors].flatMap(([room, { length }]) => (length > 8 ? `${room} has ${length}` : []));
  expect(wide).toEqual(['src/lib has 14']); // Its files have no subject in common.
});

it('the executor imports nothing of the gateway but lib and the places of errors', () => {
  const allowed = /^(?:executor\/|lib\/|errors\/located-error\.ts$)/;
  const others = imports.filter(({ from, to }) => from.startsWith('executor/') && !allowed.test(to));
  expect(others.map(describeImport)).toEqual([]);
});

it('only the program entry point accesses the process', () => {
  const touching = [...sources, ...listSources('packages/cli/src')].filter((file) =>
    /\bprocess\.\w|(?:\(|, )process\)/.test(readSource(file)),
  );
  expect(touching).toEqual(['packages/cli/src/main.ts']);
});

/** Folders of `src/` and the packages. A circle of files in several folders is also one of folders, or points upward. */
const folders = new Set(
  [...files, ...ofPackages.map(({ from }) => from)].flatMap((file) =>
    file
      .split('/')
      .slice(0, -1)
      .map((_, i, names) => names.slice(0, i + 1).join('/')),
  ),
);

it.each([...folders])('the files and folders in %s do not import each other in a circle', (folder) => {
  const roomOf = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
  const between = [...imports, ...ofPackages].flatMap(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)];
    return room === undefined || other === undefined || room === other ? [] : [{ from: room, to: other }];
  });
  expect(findCircle(between)).toBeUndefined();
});

it('the tests of npm run test:quick start neither processes nor browsers', () => {
  const isSlower = (file: string) => /\.(?:long|samples|slow|measure|package|upgrade)\.test\.ts$/.test(file);
  const tests = ['test', 'packages'].flatMap(listSources).filter(isTest);
  const ofTests = tests.flatMap(readImports);
  const starts = new Set(['playwright-core', 'node:child_process']);
  for (let size = 0; size !== starts.size; ) {
    size = starts.size;
    for (const { from, to } of ofTests) {
      if (starts.has(to)) {
        starts.add(from);
      }
    }
  }
  const quick = tests.filter((file) => file.endsWith('.test.ts') && !isSlower(file));
  expect(quick.filter((file) => starts.has(file))).toEqual([]);
  expect(quick.length).toBeGreaterThan(30);
});

it('only test and bench import from test and bench', () => {
  const others = [...['src', 'codegen', 'examples'].flatMap(listSources).flatMap(readImports), ...ofPackages];
  expect(others.filter(({ to }) => /^(?:test|bench)\//.test(to)).map(describeImport)).toEqual([]);
});

it('each hand-written file begins with a sentence that says what it is for', () => {
  const written = [...FOLDERS.flatMap(listSources), ...PROGRAMS].filter((file) => !/\.(?:test|gen)\.tsx?$/.test(file));
  const opening = /^\/\/ [A-Z].*[.:]\n|^\/\/ [A-Z].*\n(?:\/\/.*\n)*\/\/.*[.:]\n/;
  expect(written.length).toBeGreaterThan(500);
  expect(written.filter((file) => !opening.test(readSource(file)))).toEqual([]);
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
