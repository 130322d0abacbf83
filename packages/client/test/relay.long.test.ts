import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse, print, visit } from 'graphql';
import { type ConcreteRequest, createOperationDescriptor, type Environment, type Snapshot } from 'relay-runtime';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { printSdl } from '../../../src/modules/schema.ts';
import { blocks, GATEWAY, ROOT, read } from '../../../test/support/docs.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import {
  documentOf,
  isMutation,
  shippedModules,
  shippedOperations,
  shippedSchema,
} from '../../../test/support/shipped-documents.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import { useInbox } from './inbox-scenario.ts';

const PAGE = read('docs/client.md');

/** Configuration and network layer of docs/client.md. */
const CONFIG = JSON.parse(blocks(PAGE, 'json').find((block) => block.includes('persistConfig')) ?? '');
const PROGRAM = blocks(PAGE, 'ts').find((block) => block.includes('relay-runtime')) ?? '';

/** App with a module per shipped operation, compiled by Relay. */
let app: Awaited<ReturnType<typeof createTemporaryFolder>>;

/** Documents that Relay compiled, by id. */
let manifest: Record<string, string>;

/** Relay's compiler rejects variables that have a default and can't be null. */
const toNullable = (text: string): string => text.replaceAll('Int! =', 'Int =');

/** Returns the name of an operation in Relay, which requires this ending. */
const nameOf = (name: string): string => name + (isMutation(documentOf(name)) ? 'Mutation' : 'Query');

async function write(file: string, text: string): Promise<string> {
  await mkdir(dirname(app.path(file)), { recursive: true });
  await writeFile(app.path(file), text);
  return pathToFileURL(app.path(file)).href;
}

beforeAll(async () => {
  app = await createTemporaryFolder();
  await mkdir(app.path('node_modules'));
  await symlink(join(ROOT, 'node_modules/relay-runtime'), app.path('node_modules/relay-runtime'), 'dir');
  await write('package.json', '{ "type": "module" }');
  await write('relay.config.json', JSON.stringify({ ...CONFIG, language: 'javascript' })); // Which needs no compilation.
  await write(CONFIG.schema, printSdl(shippedSchema));
  await write(CONFIG.persistConfig.file, '{}');
  for (const { name, query } of shippedOperations) {
    const renamed = toNullable(query).replace(/^(query|mutation) \w+/m, `$1 ${nameOf(name)}`);
    await write(`${CONFIG.src}/${name}.js`, `graphql\`${renamed}\`;\n`);
  }
  const compiler = join(ROOT, 'node_modules/relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, '--noWatchman'], { cwd: app.path() }); // Rejects if it fails.
  manifest = JSON.parse(await readFile(app.path(CONFIG.persistConfig.file), 'utf8'));
});

afterAll(() => app[Symbol.asyncDispose]());

/** Prints a document without its name, and without `__typename`, which Relay adds to selections on unions and interfaces. */
const normalize = (text: string): string =>
  print(
    visit(parse(text), {
      OperationDefinition: (node) => ({ ...node, name: undefined }),
      Field: ({ name }) => (name.value === '__typename' ? null : undefined),
    }),
  );

it('Relay’s compiler accepts the shipped operations, and adds no ids to them', () => {
  const texts = Object.values(manifest).map(normalize);
  expect(texts.toSorted()).toEqual(shippedOperations.map(({ query }) => normalize(toNullable(query))).toSorted());
});

/** The shipped documents by id, with which tests ask the gateway without Relay. */
const shippedTexts = Object.fromEntries(
  shippedOperations.map(({ name }) => [documentOf(name).__meta__.hash, documentOf(name).__meta__.text]),
);

/** Starts a gateway that accepts only the app's documents, and Relay's environment for it. */
async function startApp() {
  const gateway = await startGateway({
    service: 'sandbox',
    modules: shippedModules,
    trustedDocuments: { manifests: [manifest, shippedTexts] },
    clients: { server: { trustedDocuments: 'enforce' } },
  });
  const program = PROGRAM.replace(`${GATEWAY}/graphql`, gateway.url).replace('Bearer', 'ApiKey');
  const token = `const getToken = async () => '${SANDBOX_KEYS.development}';`;
  const module = await write(`environment-${new URL(gateway.url).port}.ts`, `${token}\n${program}`);
  const { environment }: { environment: Environment } = await import(module);
  const warnings = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => warnings.mockRestore());
  return {
    gateway,
    warnings,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    /** Sends an operation and writes its result to the store. @returns the response, and the reader of its data in the store */
    async send(name: string, variables: object) {
      const artifact = pathToFileURL(app.path(CONFIG.src, `__generated__/${nameOf(name)}.graphql.js`)).href;
      const { default: request }: { default: ConcreteRequest } = await import(artifact);
      const operation = createOperationDescriptor(request, { ...variables });
      environment.retain(operation);
      const response = await environment
        .getNetwork()
        .execute(request.params, { ...variables }, {})
        .toPromise();
      const data = response !== undefined && 'data' in response ? response.data : undefined;
      environment.commitPayload(operation, data ?? {});
      return { data, read: (): Snapshot => environment.lookup(operation.fragment) };
    },
  };
}

/** Relay's store doesn't return fields that only Relay selected. */
const withoutTypenames = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data), (key, value) => (key.startsWith('__') ? undefined : value));

it('one store holds the responses of all shipped operations, and reads each of them back unchanged', async () => {
  await using relay = await startApp();
  const queries: { name: string; read: () => Snapshot }[] = [];

  for (const { name, variables = '{}' } of shippedOperations) {
    const { data, read } = await relay.send(name, JSON.parse(variables));
    expect(read().data).toEqual(withoutTypenames(data));
    queries.push(...(isMutation(documentOf(name)) ? [] : [{ name, read }]));
    expect(queries.filter((query) => query.read().isMissingData)).toEqual([]);
  }

  expect(queries.length).toBeGreaterThanOrEqual(5);
  expect(relay.warnings.mock.calls).toEqual([]);
});

it('the results of a deletion, and of one that fails, leave the deleted record as it was', async () => {
  await using relay = await startApp();
  const { data, read } = await relay.send('NotificationGroups', {});
  const [group] = Object(data).notificationGroups;

  const deleted = await relay.send('DeleteNotificationGroup', { input: { id: group.id } });
  const missing = await relay.send('DeleteNotificationGroup', { input: { id: group.id } });

  expect(deleted.data).toMatchObject({ deleteNotificationGroup: { deletedId: group.id } });
  expect(missing.data).toMatchObject({ deleteNotificationGroup: { code: 'NOT_FOUND' } });
  expect(read().data).toEqual(data);
  expect(relay.warnings.mock.calls).toEqual([]);
});

it('Relay shows the inbox as it is after each change, and loads the list once', async () => {
  await using relay = await startApp();
  const sent: string[] = [];
  const send = (name: string, variables: object) => {
    sent.push(name);
    return relay.send(name, variables);
  };

  const warnings = await useInbox(relay.gateway, {
    sent,
    send,
    async show(name, variables) {
      const { read } = await send(name, variables);
      return () => (read().isMissingData ? undefined : read().data); // Relay would load it again.
    },
  });

  expect(warnings).toEqual([]);
});

it('keeps a message of the inbox apart from the one with its id that operators see', async () => {
  await using relay = await startApp();
  const person = { subscriberId: 'customer-1001' };

  const list = await relay.send('Messages', { ...person, channel: 'IN_APP' });
  const inbox = await relay.send('Inbox', person);

  const idsIn = (data: unknown): string[] =>
    [...JSON.stringify(data).matchAll(/"id":"([0-9a-f]{24})"/g)].map(([, id = '']) => id);
  expect(idsIn(list.data)).toEqual(expect.arrayContaining(idsIn(inbox.data)));
  expect(list.read().data).toEqual(withoutTypenames(list.data));
  expect(inbox.read().data).toEqual(withoutTypenames(inbox.data));
  expect(relay.warnings.mock.calls).toEqual([]);
});
