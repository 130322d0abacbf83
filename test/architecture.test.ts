import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

interface Import {
  from: string;
  /** A file below src, or the name of a package. */
  to: string;
  isType: boolean;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(sep).join('/'));

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(SRC, from), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s(?:(type)\s)?(?:([^;'"]*?)\sfrom\s)?['"]([^'"]+)['"]/gm);
  const dynamic = text.matchAll(/\bimport\(['"]([^'"]+)['"]\)/g);
  return [
    ...[...statements].map(([, type, names = '', target = '']) => ({
      from,
      to: resolve(from, target),
      isType: type === 'type' || /^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)+\s*\}$/.test(names.trim()),
    })),
    ...[...dynamic].map(([, target = '']) => ({ from, to: resolve(from, target), isType: false })),
  ];
});

function resolve(from: string, target: string): string {
  return target.startsWith('.')
    ? normalize(join(dirname(from), target))
        .split(sep)
        .join('/')
    : target;
}

/** Files of `http/` that are the server in front of the gateway. */
const SERVER =
  'connections?|drain|duplicate-headers|exchanges|expectation|health|listen|load-shedding|refuse|server|victims';

/** Which values each part may import, after the table in ARCHITECTURE.md; the first pattern that fits a file decides. */
const RULES: [part: RegExp, may: RegExp][] = [
  [/^sandbox\//, /^sandbox\/|^node:|^openapi-backend$|^yaml$/],
  [
    /^main\.ts$/,
    /^(banner|command-line|config|gateway|secret-files|tuning|version|workers?)\.ts$|^http\/(open-files|overload|server)\.ts$|^metrics\/|^trusted-documents\/manifest\.ts$|^sandbox\/(environments|errors|sandbox)\.ts$|^node:(cluster|crypto|fs|os|util|v8)$|^pino(-pretty)?$/,
  ],
  [/^worker\.ts$/, /^node:cluster$|^zod$/],
  [/^workers\.ts$/, /^(pauses|worker)\.ts$|^node:(cluster|timers\/promises)$/],
  [/^banner\.ts$/, /^version\.ts$/],
  [/^index\.ts$/, /^gateway\.ts$/],
  [/^config\.ts$/, /^zod$|^(access|command-line|config-file|origins|tuning|upstream-url)\.ts$/],
  [/^config-file\.ts$/, /^(access-settings|is-record)\.ts$|^yaml$|^node:path$/],
  [/^access(-settings)?\.ts$/, /^origins\.ts$|^audiences\/(audience-options|scopes)\.ts$|^zod$/],
  [/^command-line\.ts$/, /^node:util$/],
  [/^http\/overload\.ts$/, /^node:(perf_hooks|v8)$/],
  [/^http\/open-files\.ts$/, /^node:fs$/],
  [new RegExp(`^http/(${SERVER})\\.ts$`), new RegExp(`^http/(${SERVER})\\.ts$|^node:(http|timers/promises)$`)],
  [/^metrics\//, /^metrics\/|^settings\/|^prom-client$|^node:perf_hooks$/],
  [
    /^gateway\.ts$/,
    /^(operations|reloading|upstream-url|version)\.ts$|^graphql\/[\w-]+\.ts$|^graphql\/(documents|executor)\/|^(audiences|http|metrics|rate-limits|telemetry|trusted-documents|upstream)\/|^graphql-yoga$|^pino$/,
  ],
  [/^gateway-options\.ts$|^reloading\.ts$/, /^$/],
  [/^audiences\/(audience-options|authentication-error|identity|policies|scopes)\.ts$/, /^$/],
  [/^audiences\//, /^audiences\/|^(credentials|derive|origins|secret-files)\.ts$|^jose$|^zod$|^node:crypto$/],
  [
    /^trusted-documents\//,
    /^trusted-documents\/|^(derive|file-signature|is-record)\.ts$|^settings\/|^zod$|^node:(crypto|fs|path)$/,
  ],
  [/^rate-limits\//, /^rate-limits\/|^@redis\/client$|^node:crypto$/],
  [/^client\//, /^client\//],
  [/^settings\//, /^settings\/|^lib\//],
  [/^lib\//, /^lib\//],
  [/^telemetry\//, /^telemetry\/|^lru-cache$|^node:crypto$/],
  [
    /^graphql\/executor\//,
    /^graphql\/(executor\/|documents\/document-limits\.ts$)|^graphql(\/jsutils\/(inspect|printPathArray)\.js)?$|^lru-cache$/,
  ],
  [/^graphql\/documents\//, /^graphql\/documents\/|^graphql\/executor\/located-error\.ts$|^graphql$|^lru-cache$/],
  [/^graphql\/context\.ts$/, /^audiences\/identity\.ts$|^loaders\/|^upstream\/upstream\.ts$/],
  [/^graphql\/client-errors\.ts$/, /^upstream\/errors\.ts$|^graphql$|^node:crypto$/],
  [/^graphql\/executor\//, /^graphql\/executor\/|^graphql$|^graphql\/jsutils\/inspect\.js$/],
  [/^graphql\/types\//, /^graphql\//],
  [/^graphql\/schema\.ts$/, /^graphql\//],
  [/^graphql\/errors\.ts$/, /^graphql\/builder\.ts$|^upstream\/errors\.ts$|^graphql$/],
  [/^graphql\//, /^graphql\/|^graphql$|^@pothos\/core$|^node:crypto$|^audiences\/scopes\.ts$|^(is-record|limit)\.ts$/],
  [/^loaders\//, /^loaders\/|^upstream\/(resources\/|path\.ts$)|^dataloader$|^limit\.ts$/],
  [/^upstream\/resources\//, /^upstream\/client\.ts$/],
  [/^upstream\//, /^upstream\/|^(is-record|join-bytes)\.ts$|^undici$|^node:buffer$/],
  [
    /^http\//,
    /^http\/|^(lib|settings|telemetry)\/|^rate-limits\/headers\.ts$|^audiences\/(authentication-error|client-tokens)\.ts$|^(credentials|is-record|join-bytes|remember)\.ts$|^upstream\/signal\.ts$|^graphql$|^@graphql-yoga\/|^node:(crypto|util|zlib)$/,
  ],
  [/^operations\.ts$/, /^node:fs$/],
  [/^secret-files\.ts$/, /^file-signature\.ts$|^node:(fs|path)$/],
  [/^file-signature\.ts$/, /^node:fs$/],
  [/^(credentials|derive|is-record|join-bytes|limit|origins|pauses|remember|tuning|upstream-url|version)\.ts$/, /^$/],
];

it('every file belongs to a part of the architecture', () => {
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => !RULES.some(([part]) => part.test(file)))).toEqual([]);
});

it('imports go one way', () => {
  const against = imports
    .filter(({ isType }) => !isType)
    .filter(({ from, to }) => !RULES.find(([part]) => part.test(from))?.[1].test(to))
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(against).toEqual([]);
});

it('types do not cross the borders that matter either', () => {
  const crossing = imports
    .filter(
      ({ from, to }) =>
        (from.startsWith('upstream/') && /^graphql|^http\/|^loaders\/|^metrics\//.test(to)) ||
        (from.startsWith('sandbox/') && !/^sandbox\/|^node:|^openapi-backend$|^yaml$/.test(to)) ||
        (from.startsWith('loaders/') && /^graphql/.test(to)) ||
        (from.startsWith('graphql/types/') && /^undici|^http\/|^loaders\//.test(to)) ||
        (/^(?:graphql|loaders)\//.test(from) && to.startsWith('http/')) ||
        (/^(?:lib|settings)\//.test(from) && !/^(?:lib|settings)\//.test(to)) ||
        (!from.startsWith('sandbox/') && to.startsWith('sandbox/') && from !== 'main.ts') ||
        to === 'main.ts',
    )
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(crossing).toEqual([]);
});

it('only the entries touch the process', () => {
  const touching = files.filter((file) => /\bprocess\.\w/.test(readFileSync(join(SRC, file), 'utf8')));
  expect(touching).toEqual(['main.ts', 'sandbox/main.ts']);
});

it('there are no circular imports', () => {
  const edges = Map.groupBy(
    imports.filter(({ isType }) => !isType),
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
