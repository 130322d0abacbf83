import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type GraphQLOutputType, type GraphQLSchema, getNamedType, isObjectType, isUnionType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createReport, formatReport } from '../../packages/cli/src/check/report.ts';
import { readCommandLine } from '../../packages/cli/src/command-line.ts';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { ConfigError } from '../../packages/cli/src/config/problem.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { scopesOf } from '../../src/graphql/scopes.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { startServing } from '../support/command.ts';
import {
  addTo,
  blocks,
  CLIENT_TOKENS,
  FRONTEND,
  load,
  names,
  ROOT,
  read,
  readConsole,
  readLinks,
  readRepositoryLinks,
  rows,
  runCurl,
  startConfigured,
} from '../support/docs.ts';
import { shippedModules, shippedSchema } from '../support/shipped-documents.ts';

async function readPackedFiles(): Promise<string[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
  return files.map(({ path }) => path);
}

const CONFIGURATION = read('docs/configuration.md');
const EXPLAIN = read('docs/explain.md');

const PAGES = ['.', 'deploy', 'docs', 'docs/contributing', 'examples/dashboard', '.github'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

describe('the configuration files of the docs', () => {
  it.each(blocks(FRONTEND, 'yaml'))('block %# of docs/frontend.md can be merged into the first one', (block) => {
    expect(load(addTo(block)).clients.browser?.scopes).toContain('workflows:read');
  });

  it.each(blocks(read('docs/caching.md'), 'yaml'))('block %# of docs/caching.md is valid', (block) => {
    expect(load(block).cache).toBeTypeOf('object');
  });

  it.each(
    ['audit', 'mcp', 'network', 'several-upstreams'].flatMap((page) =>
      blocks(read(`docs/${page}.md`), 'yaml').map((block, i): [string, number, string] => [page, i, block]),
    ),
  )('docs/%s.md: block %i is valid', (_page, _i, block) => {
    expect(() => load(block, { EGRESS_PROXY: 'http://user:password@proxy.example.com:3128' })).not.toThrow();
  });

  it.each(blocks(read('docs/federation.md'), 'yaml'))('block %# of docs/federation.md is valid', (block) => {
    expect(load(block).federation).not.toBe(false);
  });

  it('in docs/configuration.md are valid, and the invalid example gets exactly the problems listed below it', () => {
    const [complete = '', wrong = '', ...others] = blocks(CONFIGURATION, 'yaml');
    expect(others).toEqual([]);
    expect(load(complete).reloadSeconds).toBe(10);
    const problems = expect.objectContaining({ message: blocks(CONFIGURATION, '')[0]?.trim() });
    expect(() => load(wrong.replace('env: ACME_KEY', 'env:  ACME_KEY'))).toThrow(problems);
    expect(() => load(wrong.replace('env: ACME_KEY', 'env:  ACME_KEY'))).toThrow(ConfigError);
  });
});

it('notigraph check prints what docs/configuration.md shows', async () => {
  const [[variable = '', , , ...argv] = [], output] = readConsole(blocks(CONFIGURATION, 'console')[0]);
  const [name = '', value = ''] = variable.split('=');
  const commandLine = readCommandLine(['check', ...argv], COMMANDS);
  const report = await createReport(commandLine, { env: { [name]: value }, platform: 'linux' });
  expect(formatReport(report, 'text')).toBe(output);
});

const rootsOf = (schema: GraphQLSchema) => [schema.getQueryType(), schema.getMutationType()].filter(isObjectType);

const BUILT_IN = createSchema();

/** A schema per shipped module, with only that one. */
const WITH_MODULE = shippedModules.map((module) => createSchema(undefined, [module]));

/** Returns the short name of the shipped module that adds a field; an empty text for built-in ones. */
function moduleOf(name: string): string {
  const [field = '', parent] = name.split('.').toReversed();
  const typesOf = (schema: GraphQLSchema) =>
    parent === undefined ? rootsOf(schema) : [schema.getType(parent)].filter(isObjectType);
  const has = (schema: GraphQLSchema) => typesOf(schema).some((type) => field in type.getFields());
  const module = SHIPPED_MODULES[WITH_MODULE.findIndex(has)] ?? 'none';
  return has(BUILT_IN) ? '' : module.replace('notigraph/modules/', '');
}

it('the table of scopes in docs/frontend.md matches the schema for every field', () => {
  const schema = shippedSchema;
  const scopeOf = ({ extensions }: { extensions: { scope?: unknown } }) =>
    typeof extensions.scope === 'string' ? [extensions.scope] : [];
  const recordScopes = (type: GraphQLOutputType): string[] => {
    const named = getNamedType(type);
    const members = isUnionType(named)
      ? named.getTypes()
      : isObjectType(named) && named.name.endsWith('Payload')
        ? [named]
        : [];
    const results = members.flatMap((member) => Object.values(member.getFields()));
    return results.flatMap(({ type: inner }) => [...scopeOf(getNamedType(inner)), ...recordScopes(inner)]);
  };
  const table = rows(FRONTEND, /^\| operation \| required scope/m);
  const seen = new Set<string>();
  for (const [operations, needed, record, module] of table) {
    for (const name of names(operations)) {
      const [parent, field = ''] = name.includes('.') ? name.split('.') : [undefined, name];
      const types = parent === undefined ? [schema.getQueryType(), schema.getMutationType()] : [schema.getType(parent)];
      const found = types.filter(isObjectType).flatMap((type) => type.getFields()[field] ?? []);
      const own = found.flatMap((each) => [...scopeOf(each), ...scopeOf(getNamedType(each.type))]);
      const written = found.flatMap(({ type }) => recordScopes(type));
      expect({ name, needs: own, record: [...new Set(written)], module: moduleOf(name) }).toEqual({
        name,
        needs: names(needed),
        record: names(record),
        module,
      });
      seen.add(name);
    }
  }
  const roots = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}),
  );
  expect(roots.filter((name) => !seen.has(name))).toEqual([]);
  expect([...new Set(table.flatMap(([, needed, record]) => [...names(needed), ...names(record)]))].toSorted()).toEqual(
    scopesOf(schema),
  );
});

it('the references name the module of each field and type that a shipped module adds', () => {
  const operations = rows(read('docs/rest-calls.md'), /^\| GraphQL \| REST/m);
  const roots = rootsOf(shippedSchema).flatMap((type) => Object.keys(type.getFields()));
  expect(operations.length).toBeGreaterThan(roots.length);
  const listed = operations.map(([cell, , , module]) => ({ field: names(cell)[0]?.replace(/\(.*/, '') ?? '', module }));
  expect(roots.filter((root) => !listed.some(({ field }) => field === root))).toEqual([]);
  expect(listed.map(({ module }) => module)).toEqual(listed.map(({ field }) => moduleOf(field)));
  const writes = rows(read('docs/caching.md'), /^\| mutation \| REST/m);
  expect(writes.some(([, , , module]) => module === 'events')).toBe(true);
  for (const [cell, , , module] of writes) {
    const modules = [...new Set(names(cell).map(moduleOf))];
    expect([cell, modules]).toEqual([cell, module?.split(', ')]);
  }
  const parts = read('docs/schema.md').split(/^## /m).slice(1);
  const fields = parts.flatMap((part) => {
    const [, module = ''] = /^Module (\w+)\n/.exec(part) ?? [];
    return [...part.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => [name, module]);
  });
  expect(fields.toSorted()).toEqual(roots.map((name) => [name, moduleOf(name)]).toSorted());
});

describe('the log in docs/logs.md', () => {
  const page = read('docs/logs.md');

  it('begins with a line as the command writes it, and explains every field', async () => {
    await using notigraph = await startServing({ args: ['--sandbox', ':memory:'] });
    await fetch(notigraph.url, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${SANDBOX_KEYS.development}`,
        'content-type': 'application/json',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        'x-graphql-client-name': 'billing',
        'x-graphql-client-version': '1.4.0',
      },
      body: JSON.stringify({
        query: 'query PaymentFailed { workflow(idOrIdentifier: "payment-failed") { name notificationGroup { name } } }',
      }),
    });
    const [written] = await notigraph.printed('stdout', /^\{.+"msg":"operation"\}$/m);
    expect(JSON.parse(written)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      pid: process.pid,
    });
    const [shown = ''] = blocks(page, 'json');
    const changing = { time: '', pid: 0, hostname: '', requestId: '', ms: 0, tenant: '' };
    expect({ ...JSON.parse(shown), ...changing }).toEqual({ ...JSON.parse(written), ...changing });
    expect(Object.keys(JSON.parse(shown))).toEqual(Object.keys(JSON.parse(written)));
    const explained = rows(page, /^\| field \|/m).flatMap(([cell]) => names(cell));
    expect(Object.keys(JSON.parse(written)).filter((field) => !explained.includes(field))).toEqual([]);
  });

  it('names the fields of other lines', async () => {
    const gateway = await startConfigured(addTo(`${CLIENT_TOKENS}clients: { browser: { trustedDocuments: log } }`));
    const curl = blocks(FRONTEND, 'sh').find((block) => block.startsWith('curl')) ?? '';
    const { token } = await (await runCurl(curl, gateway.url.replace('/graphql', ''))).json();
    const authorization = `Bearer ${token}`;
    await gateway.send('query Unlisted { notificationGroups { id } }', {}, { authorization });
    const table = rows(page, /^\| `msg` \| level \|/m);
    for (const msg of ['client token', 'a document that is in no manifest was served']) {
      const { level, time, pid, hostname, msg: _, ...fields } = gateway.log.find((line) => line.msg === msg) ?? {};
      const row = table.find(([cell]) => cell === `\`${msg}\``)?.[2] ?? '';
      expect(Object.keys(fields).filter((field) => !names(row).includes(field))).toEqual([]);
      expect(Object.keys(fields).length).toBeGreaterThan(2);
    }
  });
});

it('the request in docs/explain.md gets the explanation below it', async () => {
  const gateway = await startConfigured('{}');
  const [request = ''] = blocks(EXPLAIN, 'sh');
  const response = await runCurl(request, gateway.url.replace('/graphql', ''));
  const explained = (await response.text()).replace(/http:\/\/127\.0\.0\.1:\d+/g, 'https://notifications.example.com');
  expect(JSON.parse(explained)).toEqual(JSON.parse(blocks(EXPLAIN, 'json')[0] ?? ''));
  expect(gateway.upstream()).toEqual([]);
});

it.each(PAGES)('every link and path in %s leads somewhere', (file) => {
  const text = read(file);
  const slugs = (page: string) =>
    [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const targets = [
    ...readLinks(text).map(({ path, anchor }) => ({ target: path === '' ? file : join(dirname(file), path), anchor })),
    ...readRepositoryLinks(text),
  ];
  const isBroken = ({ target, anchor }: { target: string; anchor: string | undefined }) =>
    !existsSync(join(ROOT, target)) || (anchor !== undefined && !slugs(target).includes(anchor));
  expect(targets.filter(isBroken)).toEqual([]);
  const paths = names(text).filter((name) => /^(?:src|packages|test|examples)\/[\w./-]+$/.test(name));
  const exists = (path: string) => [ROOT, join(ROOT, dirname(file))].some((base) => existsSync(join(base, path)));
  expect(paths.filter((path) => !exists(path))).toEqual([]);
});

/** Sources of the messages that pages quote, and a message of Node.js. */
const MESSAGES = [
  "Cannot find package 'notigraph'",
  ...globSync(['{src,packages}/**/*.ts', 'deploy/**/*.js'], { cwd: ROOT }).map(read),
].join();

it.each(PAGES.filter((page) => read(page).includes("## If it doesn't work")))(
  '%s quotes messages that exist',
  (page) => {
    const quoted = rows(read(page), /^\| you see \|/m).flatMap(([cell]) => names(cell));
    const messages = quoted.filter((text) => text.includes(' ')).map((text) => text.replace(/\.$/, ''));
    expect(messages.filter((text) => !MESSAGES.includes(text))).toEqual([]);
  },
);

it.each(PAGES)('every column of the tables in %s has a heading', (page) => {
  const heads = [...read(page).matchAll(/^(\|.*\|)\n\| ?:?-/gm)].map(([, head = '']) => head);
  expect(heads.filter((head) => /\|\s*\|/.test(head))).toEqual([]);
});

it.each(PAGES.filter((page) => /^(?:README|CONTRIBUTING|docs\/)/.test(page)))(
  '%s can be read in ten minutes',
  (page) => {
    const text = read(page).replace(/<!-- (generated: .+|results|cpu) -->[\s\S]*?<!-- \/.+ -->/g, '');
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(2000);
  },
);

it('the package contains the target of every relative link in its pages', async () => {
  const files = await readPackedFiles();
  const contains = (target: string) => files.some((file) => file === target || file.startsWith(`${target}/`));
  const links = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) =>
      readLinks(read(page)).map(({ path }) => ({ page, target: path === '' ? page : join(dirname(page), path) })),
    );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ target }) => !contains(target))).toEqual([]);
});

/** Hosts in examples that are neither the service nor the gateway. */
const OTHER_HOSTS =
  /^(?:app|login|registry|proxy|clerk|keycloak|images|otel|redis|evil|chat|campaigns|eu|us|ap)\.example\.com$|^partner\.example\.org$/;

it.each(
  [
    ...PAGES,
    ...globSync(
      [
        'deploy/**/*.{yaml,yml,md}',
        'src/settings/**/*.ts',
        'packages/cli/src/**/*.ts',
        'packages/client/src/*.ts',
        'examples/**/*.md',
      ],
      { cwd: ROOT },
    ),
  ].filter((file) => !file.includes('node_modules')),
)('%s calls the service notifications.example.com and the gateway graphql.example.com', (file) => {
  const addresses = [...read(file).matchAll(/\b((?:[\w-]+\.)+example\.(?:com|org|net))(\/\w[\w-]*)?/g)];
  const wrong = addresses.filter(([, host = '', path = '']) => {
    const isGateway = /^\/(?:graphql|client-tokens|mcp)$/.test(path);
    return isGateway
      ? !/^(?:(?:eu\.)?graphql|campaigns)\.example\.com$/.test(host)
      : !/^(?:\w+\.)?(?:notifications|graphql)\.example\.com$/.test(host) && !OTHER_HOSTS.test(host);
  });
  expect(wrong.map(([address]) => address)).toEqual([]);
});
