import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createSchema } from '../../../src/modules/schema.ts';
import { printSubgraph } from '../../../src/modules/toolkit/federation.ts';
import type { ExitResult } from '../../../test/support/command.ts';
import { runCommand } from '../../../test/support/command.ts';
import { blocks, read, readConsole } from '../../../test/support/docs.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';

const folder = createFolderOfEachTest();

/** Runs a command in a folder with these files. */
async function run(line: string, files: Readonly<Record<string, string>> = {}): Promise<ExitResult> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(folder.path(name)), { recursive: true });
    await writeFile(folder.path(name), text);
  }
  return runCommand({ cwd: folder.path(), args: line.split(' ') });
}

const printed = (stdout: string, code = 0) => ({ code, signal: null, stdout, stderr: '' });

const rejected = (stderr: string) => ({ code: 2, signal: null, stdout: '', stderr });

const GATEWAY = read('schema/schema.graphql');

const OLD = `
  type Query { items(filter: Filter, first: Int): [Item!]! item(id: ID): Item }
  type Mutation { rename(input: RenameInput!): Item }
  type Item { id: ID! name: String! size: Int color: Color tags: [String!] state: State }
  enum State { ON OFF }
  input Filter { color: Color }
  input RenameInput { id: ID! name: String! }
  enum Color { RED BLUE }
`;

const NEW = `
  type Query { items(filter: Filter, first: Int, after: ID): [Item!]! item(id: ID): Item newest: Item }
  type Mutation { rename(input: RenameInput!): Item }
  type Item { id: ID! name: String size: Int! color: Color @deprecated(reason: "Use hue.") hue: Hue state: State }
  scalar State
  type Hue { degrees: Int! }
  input Filter { color: Color }
  input RenameInput { id: ID! name: String! reason: String! }
  enum Color { RED GREEN }
`;

const SCHEMAS = { 'old.graphql': OLD, 'new.graphql': NEW };

/** Operations, with the reasons for which they break. */
const OPERATIONS = {
  Fits: ['{ items(first: 1) { id size color } }', []],
  RemovedField: ['{ item(id: 1) { tags } }', ['Cannot query field "tags" on type "Item".']],
  NullableField: ['{ item(id: 1) { label: name } }', ['Item.name changed type from String! to String.']],
  OtherKind: ['{ item(id: 1) { state } }', ['State changed from an Enum type to a Scalar type.']],
  Literal: ['{ items(filter: { color: RED }) { id } }', []],
  RemovedLiteral: ['{ items(filter: { color: BLUE }) { id } }', ['Value "BLUE" does not exist in "Color" enum.']],
  Variable: ['($filter: Filter) { items(filter: $filter) { id } }', ['BLUE was removed from enum type Color.']],
  Input: [
    '($input: RenameInput!) { rename(input: $input) { id } }',
    ['A required field reason on input type RenameInput was added.'],
  ],
} as const;

const textOf = ([name, [text]]: [string, readonly [string, unknown]]) =>
  `${text.includes('rename') ? 'mutation' : 'query'} ${name}${text}`;

const TEXTS = Object.entries(OPERATIONS).map(textOf);

const BROKEN = Object.entries(OPERATIONS).flatMap(([name, [, reasons]]) =>
  reasons.length === 0 ? [] : [{ name, reasons }],
);

describe('notigraph schema print', () => {
  it('prints the schema of the gateway or the subgraph, and writes nothing', async () => {
    const files = { 'notigraph.config.yaml': 'federation: true\nintrospection: false' };
    expect(await run('schema print', files)).toEqual(printed(GATEWAY));
    expect(await run('schema print --federation')).toEqual(printed(printSubgraph(createSchema())));
    expect(await readdir(folder.path())).toEqual(Object.keys(files));
    await writeFile(folder.path('notigraph.config.yaml'), 'nonsense: true');
    expect(await run('schema print')).toEqual(rejected('notigraph.config.yaml:1:1: unknown setting "nonsense".\n'));
  });
});

it('notigraph schema prints its commands', async () => {
  const { code, stdout } = await run('schema');
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n {2}schema print .+\n {2}schema diff .+\n/);
});

describe('notigraph schema diff', () => {
  it('prints no characters that change what people read', async () => {
    const old = { 'old.graphql': 'type Query { a: Int }' };
    const { stdout } = await run('schema diff old.graphql new.graphql', {
      ...old,
      'new.graphql': 'type Query { a: Int @deprecated(reason: "a\u202eb\\u001b[31m") }',
    });
    expect(stdout).toContain('Query.a is deprecated: a?b?[31m\n');
  });

  it('lists breaking changes first, then dangerous ones, additions and deprecations', async () => {
    expect(await run('schema diff old.graphql new.graphql', SCHEMAS)).toEqual(
      printed(
        `5 breaking changes:
  Item.tags was removed.
  Item.name changed type from String! to String.
  State changed from an Enum type to a Scalar type.
  A required field reason on input type RenameInput was added.
  BLUE was removed from enum type Color.

2 dangerous changes:
  An optional arg after on Query.items was added.
  GREEN was added to enum type Color.

4 other changes:
  Query.newest was added.
  Item.hue was added.
  Hue was added.
  Item.color is deprecated: Use hue.
`,
        1,
      ),
    );
  });

  it('compares with the schema of the gateway by default', async () => {
    const same = 'No breaking or dangerous changes, additions or deprecations.\n';
    expect(await run('schema diff a.graphql', { 'a.graphql': GATEWAY })).toEqual(printed(same));
    const older = GATEWAY.replace('\n  critical: Boolean!\n', '\n  critical: Boolean!\n  urgent: Boolean\n');
    const { code, stdout } = await run('schema diff b.graphql', { 'b.graphql': older });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '1 breaking change:\n  Workflow.urgent was removed.\n' });
  });

  it('reads a schema from standard input', async () => {
    const input = { text: GATEWAY, isTTY: false };
    expect(await runCommand({ args: ['schema', 'diff', '-'], input })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No breaking/),
    });
  });

  it('finds operations that break: invalid ones, and those with incompatible results or variables', async () => {
    const files = { ...SCHEMAS, 'all.graphql': TEXTS.join('\n') };
    const args = 'schema diff old.graphql new.graphql --documents all.graphql';
    const { code, stdout } = await run(args, files);
    expect(code).toBe(1);
    expect(stdout.slice(stdout.indexOf('6 of'))).toBe(
      `6 of 8 operations break:\n${BROKEN.map(({ name, reasons }) => `  ${name} (all.graphql): ${reasons.join()}\n`).join('')}`,
    );
    const json = await run(`${args} --format json`);
    expect({ ...json, stdout: JSON.parse(json.stdout) }).toEqual({
      ...printed('', 1),
      stdout: {
        breaking: expect.arrayContaining([{ type: 'FIELD_REMOVED', description: 'Item.tags was removed.' }]),
        dangerous: expect.arrayContaining([
          { type: 'VALUE_ADDED_TO_ENUM', description: 'GREEN was added to enum type Color.' },
        ]),
        other: expect.arrayContaining([{ type: 'DEPRECATED', description: 'Item.color is deprecated: Use hue.' }]),
        operations: {
          checked: 8,
          unread: [],
          broken: BROKEN.map((operation) => ({ ...operation, source: 'all.graphql' })),
        },
      },
    });
  });

  it('succeeds if no operation uses what breaks', async () => {
    const files = { ...SCHEMAS, 'fits.gql': textOf(['Fits', OPERATIONS.Fits]) };
    const { code, stdout } = await run('schema diff old.graphql new.graphql --documents fits.gql', files);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^5 breaking changes, which no operation uses:\n/);
    expect(stdout).toMatch(/\n\nNone of 1 operations breaks\.\n$/);
  });

  it('reads folders: documents at any depth with fragments of other files, or else manifests', async () => {
    const { code, stdout } = await run('schema diff old.graphql new.graphql --documents app', {
      ...SCHEMAS,
      'app/items.graphql': '{ items { ...Names } }',
      'app/pages/item.graphql': 'query Item { item(id: 1) { id } } query Other { item(id: 1) { tags } }',
      'app/pages/item/names.gql': 'fragment Names on Item { name }',
      'app/schema.graphql': OLD,
      'app/node_modules/other/broken.graphql': '{',
      'app/package.json': '{ "name": 1 }',
    });
    expect(code).toBe(1);
    expect(stdout.slice(stdout.indexOf('2 of'))).toBe(`2 of 3 operations break:
  unnamed query (app/items.graphql): Item.name changed type from String! to String.
  Other (app/pages/item.graphql): Cannot query field "tags" on type "Item".
`);

    const body = 'query Tags { item(id: 1) { tags } }';
    const apollo = { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: 'tags-2', body }] };
    const manifests = await run('schema diff old.graphql new.graphql --documents manifests', {
      'manifests/1.json': JSON.stringify({ 'tags-1': body, fits: '{ items { id } }' }),
      'manifests/2.json': JSON.stringify(apollo),
    });
    expect(manifests.stdout.slice(manifests.stdout.indexOf('2 of'))).toBe(`2 of 3 operations break:
  Tags (document tags-1): Cannot query field "tags" on type "Item".
  Tags (document tags-2): Cannot query field "tags" on type "Item".
`);
    const trusted = { 'all.json': read('schema/trusted-documents.json'), 'gateway.graphql': GATEWAY };
    const shipped = await run('schema diff gateway.graphql --documents all.json', trusted);
    expect(shipped).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nNone of \d\d operations breaks\.\n$/) });
  });

  it('reads documents in code: templates of gql and graphql, but none with expressions', async () => {
    const files = {
      ...SCHEMAS,
      'app/items.tsx': [
        "import { gql } from '@apollo/client';",
        'const ITEMS = gql`',
        '  query Items { items { ...Names } }',
        '`;',
        'const TAGS = graphql<Data>(/* GraphQL */ `query Tags { item(id: "\\`") { tags } }`);',
        'const NONE = gql`',
        '  query Unread { ...F }',
        '  $' + '{FRAGMENT}',
        '`;',
        'const text = `query Text { nothing }`;',
      ].join('\n'),
      'app/names.vue': '<script setup>\nuseQuery(graphql(`\n  fragment Names on Item { name }\n`));\n</script>',
      'app/more.mjs': 'export const more = /* GraphQL */ `{ items { id } }`;\ngql`$' + '{a}`',
      'app/page.graphql': 'query Page { items { ...Names } }',
      'app/next.js/readme.md': 'gql`{ nothing }`',
    };
    const { code, stdout } = await run('schema diff old.graphql new.graphql --documents app', files);
    expect(code).toBe(1);
    expect(stdout.slice(stdout.indexOf('3 of'))).toBe(`3 of 4 operations break:
  Items (app/items.tsx): Item.name changed type from String! to String.
  Tags (app/items.tsx): Cannot query field "tags" on type "Item".
  Page (app/page.graphql): Item.name changed type from String! to String.

Not read, because of an expression (\${…}):
  app/items.tsx:6
  app/more.mjs:2
`);
    const single = await run('schema diff old.graphql new.graphql --documents app/items.tsx --format json');
    expect(JSON.parse(single.stdout).operations).toMatchObject({ checked: 2, unread: ['app/items.tsx:6'] });
    expect(await run('schema diff old.graphql --documents app/none.ts', { 'app/none.ts': 'gql`$' + '{a}`' })).toEqual(
      rejected('--documents: app/none.ts has no operations without expressions.\n'),
    );
    expect(await run('schema diff old.graphql --documents app/wrong.js', { 'app/wrong.js': '\n\ngql`\n{`' })).toEqual(
      rejected('app/wrong.js:4:2: Syntax Error: Expected Name, found <EOF>.\n'),
    );
  });

  it('reads no documents in comments and strings of code', async () => {
    const files = {
      ...SCHEMAS,
      'app/gql.ts': `/**
 * const query = graphql(\`query GetUser($id: ID!) { user(id: $id) { name } }\`);
 */
// gql\`{ nothing }\`
export const sources = glob('src/**/*.ts', 'https://example.com/*'); // Don't use gql\`{ nothing }\`.
const first = gql\`query First { items { id } }\`; /* gql\`{ nothing }\` */
const hint = "Write gql\`{ nothing }\`" + 'or it\\'s gql\`{ nothing }\`';
const second = graphql(/* GraphQL */ \`query Second { items { id } } # it's "quoted\`);
`,
      'app/page.vue':
        "<!--\ngql`{ nothing }`\n-->\n<p>Don't {/* gql`{ nothing }` */}</p>\n<script>gql`query Third { items { id } }`</script>",
    };
    const { stdout } = await run('schema diff old.graphql new.graphql --documents app', files);
    expect(stdout).toMatch(/\n\nNone of 3 operations breaks\.\n$/);
  });

  it.each([
    ['none.graphql', "The file none.graphql doesn't exist.\n"],
    ['syntax.graphql', 'syntax.graphql:2:14: Syntax Error: Expected Name, found "}".\n'],
    ['sdl.graphql', 'sdl.graphql:2:20: Unknown type "Itm". Did you mean "ID" or "Int"?\n'],
    ['invalid.graphql', 'invalid.graphql:1:18: Type B must define one or more fields.\n'],
    ['rootless.graphql', 'rootless.graphql: Query root type must be provided.\n'],
    ['valid.graphql --documents none', "--documents: none doesn't exist.\n"],
    ['valid.graphql --documents empty', '--documents: empty has no operations.\n'],
    ['valid.graphql --documents valid.graphql', '--documents: valid.graphql has no operations.\n'],
    ['valid.graphql --documents syntax.graphql', 'syntax.graphql:2:14: Syntax Error: Expected Name, found "}".\n'],
    ['valid.graphql --documents bad.json', 'document a:1:3: Syntax Error: Expected Name, found <EOF>.\n'],
    [
      'valid.graphql --documents other.json',
      '--documents: the manifest other.json cannot be used: it is neither an object of documents by id nor an Apollo manifest.\n',
    ],
    ['valid.graphql --format xml', '--format must be text or json.\n'],
  ])('rejects %s with one message, which names the place', async (args, message) => {
    const files = {
      'valid.graphql': 'type Query { a: Int }',
      'syntax.graphql': 'type Query {\n  a: Int  b: }',
      'sdl.graphql': 'type Query {\n  a: Int b: Int c: Itm\n}',
      'invalid.graphql': 'type Query {a:B} type B',
      'rootless.graphql': 'type Item { a: Int }',
      'empty/readme.txt': '',
      'bad.json': '{ "a": "{ " }',
      'other.json': '{ "a": 1 }',
    };
    expect(await run(`schema diff ${args}`, files)).toEqual(rejected(message));
  });
});

describe('the recipe of docs/schema-changes.md', () => {
  const CLIENT = read('docs/schema-changes.md');
  const APP = {
    'src/workflow-page.graphql': 'query WorkflowPage($id: ID!) { workflow(idOrIdentifier: $id) { name trigger } }',
    'src/pages/groups.graphql': 'query Groups { notificationGroups { id } }',
  };

  it('prints what the page shows', async () => {
    const [[, , ...words], output] = readConsole(blocks(CLIENT, 'console')[0]);
    const older = GATEWAY.replace(/\n {2}PUSH\n/, '\n')
      .replace(/ {2}"""[^"]+"""\n {2}critical: Boolean!\n/, '  trigger: String\n')
      .replace(/ {2}"""Push notifications\."""\n/, '');
    expect(await run(words.join(' '), { ...APP, 'schema.graphql': older })).toEqual(printed(output, 1));
  });

  it('runs the same command in GitHub Actions, which succeeds with the operations of the gateway', async () => {
    const { jobs } = parse(blocks(CLIENT, 'yaml')[0] ?? '');
    const [[, ...words]] = readConsole(blocks(CLIENT, 'console')[0]);
    const steps: { run?: string }[] = jobs.schema.steps;
    expect(steps.map((step) => step.run)).toEqual([undefined, undefined, 'npm ci', `npx ${words.join(' ')}`]);
    const files = { 'schema.graphql': GATEWAY, 'src/groups.graphql': APP['src/pages/groups.graphql'] };
    expect(await run(words.slice(1).join(' '), files)).toMatchObject({ code: 0, stderr: '' });
  });
});
