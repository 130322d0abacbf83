import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../../../test/support/command.ts';
import { ROOT } from '../../../test/support/docs.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { generateModule } from '../../../test/support/generated-module.ts';
import { guards } from '../../../test/support/guards.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import type { Script } from '../../../test/support/service.ts';

guards('packages/cli/src/config/config-file.ts', 'resolveReferences.resolveText');

const folder = createFolderOfEachTest();

const write = (file: string, content: unknown) =>
  writeFile(folder.path(file), typeof content === 'string' ? content : JSON.stringify(content));

const run = (...args: string[]) => runCommand({ cwd: folder.path(), args });

/** Writes `books.ts`, the module of the document of a library. */
async function writeBooks() {
  await cp(join(ROOT, 'packages/cli/test/documents/library.yaml'), folder.path('library.yaml'));
  return run('module', 'new', 'books', '--openapi', 'library.yaml');
}

it('a document becomes a module that passes the check and declares kinds of stored reads, ids, texts with lines and scopes', async () => {
  const { code, stdout } = await writeBooks();
  expect(code).toBe(0);
  expect(stdout).toBe(`Wrote books.ts:
  Query.books: GET /v1/books
  Mutation.createBook: POST /v1/books
  Query.book: GET /v1/books/{bookId}
  Mutation.renameBook: PATCH /v1/books/{bookId}
  Mutation.deleteBook: DELETE /v1/books/{bookId}
  Query.genres: GET /v1/genres
  Query.export: GET /v1/export
  Query.authors: GET /v1/authors
  Query.author: GET /v1/authors/{id}
  Mutation.archiveBook: POST /v1/books/{bookId}:archive
  Query.wellKnownCatalog: GET /v1/.well-known/catalog
  Mutation.sendReminders: POST /v1/reminders
  Mutation.createLoan: POST /v1/loans
  Mutation.archiveMessage: POST /v1/messages/{messageId}/archive

Skipped:
  GET /v1/books, header parameter Range: no endpoint can declare this header.
  GET /v1/books, cookie parameter session: the gateway sends no cookies.
  PUT /v1/books/{bookId}/cover: its body is multipart/form-data, neither JSON nor a form.
  GET /v1/workflows/{id}: a built-in field calls it.

Next steps:
  Decide what its TODO comments ask: there are 7.
  Name the file in the setting modules, and run npx notigraph check. See docs/modules.md.
`);
  const text = await readFile(folder.path('books.ts'), 'utf8');
  expect(text).toMatch(
    /endpoint\('POST \/v1\/messages\/\{messageId\}\/archive', \{\s+expect: 'nothing',\s+empties: \['statistics'\],/,
  );
  expect(text).toMatch(/endpoint\('GET \/v1\/authors\/\{id\}', \{\s+identifiedBy: \['id'\],/);
  expect(text).toContain("multiline: ['description'],");
  expect(text.match(/interface Author\w*Body/g)).toEqual(['interface AuthorBody']); // Also for the copy.
  const checked = await run('check', '--modules', './books.ts', '--without-secrets');
  expect(checked.stdout).toContain('\n  Author.apiKey (authors-secrets:read)\n');
  expect(checked.stdout).toContain('\n  Author (authors:read)\n');
});

it('a module of a document serves', async () => {
  const book = { _id: 'b 1', title: 'Emma', status: 'on-loan', author_id: 'a1', published_at: null };
  const author = (id: string) => ({ id, name: `Author ${id}`, apiKey: 's3cret', _workflowId: 'w1' });
  const respond: Script = ({ method, path, body }) => {
    if (path.startsWith('/v1/books?page=101')) {
      return { status: 400, body: { message: 'page must not be greater than 100' } };
    }
    if (path.startsWith('/v1/books?')) {
      return { body: { data: [book, { ...book, status: 'lost' }, { title: 'No id' }], hasMore: false } };
    }
    if (path.startsWith('/v1/authors')) {
      return { body: path === '/v1/authors' ? ['a1', 'a2'].map(author) : author('a1') };
    }
    if (path.startsWith('/v1/workflows/')) {
      return { body: { data: { _id: 'w1', name: 'Welcome' } } };
    }
    if (path === '/v1/.well-known/catalog') {
      return { body: { pages: 3 } };
    }
    if (path === '/v1/export') {
      return { headers: { 'content-type': 'text/csv' }, body: 'title\nEmma\n' };
    }
    if (path === '/v1/loans') {
      return { body: { until: `tomorrow, with ${body}` } };
    }
    if (body.includes('Printed')) {
      return { status: 422, body: { errors: { in_print: ['Not yet'] } } };
    }
    return method === 'POST' && path === '/v1/books'
      ? { status: 409, body: { message: 'It exists.' } }
      : method === 'GET'
        ? { body: { data: book } }
        : { status: 204 };
  };
  const books = await generateModule('books', 'packages/cli/test/documents/library.yaml');
  await using gateway = await startGateway({ service: respond, modules: [books] });
  const { service } = gateway;
  const send = (document: string) => sendOperation(gateway.url, document);
  const { calls } = service;

  // Invalid records and unknown values of enums affect only themselves.
  const page = await send(
    '{ books(page: 2, sortBy: PUBLICATION_DATE, tags: ["a", "b"], filterLang: "en", xTrace: "t1") { books { id status } hasMore pageSize } }',
  );
  expect(page).toMatchObject({
    data: {
      books: {
        books: [{ id: 'b 1', status: 'ON_LOAN' }, { id: 'b 1', status: null }, null],
        hasMore: false,
        pageSize: null,
      },
    },
    errors: [{ path: ['books', 'books', 1, 'status'] }, { path: ['books', 'books', 2] }],
  });
  expect(service.requests.at(-1)?.headers).toMatchObject({ 'x-trace': 't1', 'x-edition': '2' });
  expect(await send('{ books(page: 101) { hasMore } }')).toMatchObject({
    errors: [{ message: 'page must not be greater than 100', extensions: { code: 'BAD_USER_INPUT' } }],
  });
  expect(await send('{ book(bookId: "b 1") { title authorId publishedAt sequel { id } } }')).toEqual({
    data: { book: { title: 'Emma', authorId: 'a1', publishedAt: null, sequel: null } },
  });
  service.forget();
  // Two authors are one call, an id is a link, and a link to a built-in type uses it.
  expect(await send('{ a: author(id: "a1") { name } b: author(id: "a2") { name } }')).toEqual({
    data: { a: { name: 'Author a1' }, b: { name: 'Author a2' } },
  });
  expect(await send('{ book(bookId: "b1") { author { workflow { __typename name } } } }')).toEqual({
    data: { book: { author: { workflow: { __typename: 'Workflow', name: 'Welcome' } } } },
  });
  expect(await send('{ wellKnownCatalog }')).toEqual({ data: { wellKnownCatalog: { pages: 3 } } });
  expect(await send('{ export }')).toEqual({ data: { export: 'title\nEmma\n' } });
  expect(calls()).toEqual([
    'GET /v1/authors',
    'GET /v1/books/b1',
    'GET /v1/authors/a1',
    'GET /v1/workflows/w1',
    'GET /v1/.well-known/catalog',
    'GET /v1/export',
  ]);
  service.forget();
  const create =
    'createBook(input: { title: "Emma", inPrint: true, description: "1\\n2", details: { weight: 1.5 }, idempotencyKey: "k1" })';
  expect(await send(`mutation { ${create} { __typename ... on MutationError { message } } }`)).toEqual({
    data: { createBook: { __typename: 'ConflictError', message: 'It exists.' } },
  });
  expect(service.requests.at(-1)).toMatchObject({
    body: JSON.stringify({ title: 'Emma', in_print: true, description: '1\n2', details: { weight: 1.5 } }),
    headers: { 'idempotency-key': expect.stringMatching(/^[\da-f]{64}$/) },
  });
  const rejected =
    'createBook(input: { title: "Printed", inPrint: true }) { ... on InvalidInputError { issues { path } } }';
  expect(await send(`mutation { ${rejected} }`)).toEqual({
    data: { createBook: { issues: [{ path: ['input', 'inPrint'] }] } },
  });
  expect(
    await send('mutation { deleteBook(input: { bookId: "b1" }) { ... on DeleteBookSuccess { deletedBookId } } }'),
  ).toEqual({ data: { deleteBook: { deletedBookId: 'b1' } } });
  expect(
    await send('mutation { archiveBook(input: { bookId: "b1" }) { ... on ArchiveBookSuccess { result } } }'),
  ).toEqual({
    data: { archiveBook: { result: null } },
  });
  expect(await send('mutation { sendReminders { ... on SendRemindersSuccess { accepted } } }')).toEqual({
    data: { sendReminders: { accepted: true } },
  });
  const loan =
    'createLoan(input: { book: "b&1", period: { days: 2 } }) { ... on CreateLoanSuccess { createLoanResponse { until } } }';
  expect(await send(`mutation { ${loan} }`)).toEqual({
    data: { createLoan: { createLoanResponse: { until: 'tomorrow, with book=b%261&period%5Bdays%5D=2' } } },
  });
  expect(calls()).toEqual([
    'POST /v1/books',
    'POST /v1/books',
    'DELETE /v1/books/b1',
    'POST /v1/books/b1:archive',
    'POST /v1/reminders',
    'POST /v1/loans',
  ]);
});

/** Returns a response with a schema. */
const returns = (schema: object) => ({ responses: { 200: { content: { 'application/json': { schema } } } } });

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const shape = (...names: string[]) => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const SHIPPED = ['events', 'inbox', 'messages', 'subscribers', 'topics', 'workflows'].map(
  (name) => `notigraph/modules/${name}`,
);

it('leaves out the routes of shipped modules, so that it can be used with all of them', async () => {
  const topic = { ...shape('_id', 'key', 'layoutId') };
  const trigger = { 201: { description: 'Triggered.' } };
  await write('service.json', {
    openapi: '3.0.0',
    paths: {
      '/v1/topics': { get: returns({ type: 'array', items: ref('TopicDto') }), post: returns(ref('TopicDto')) },
      '/v1/topics/{key}': {
        get: returns(ref('TopicDto')),
        delete: { responses: { 204: { description: 'Deleted.' } } },
      },
      '/v1/topics/{topicKey}/layouts': { get: returns({ type: 'array', items: ref('TopicDto') }) },
      '/v1/subscribers/{id}': { get: returns(ref('SubscriberDto')) },
      '/v1/subscribers/{id}/page': { get: returns(ref('SubscriberPage')) },
      '/v1/subscribers/{id}/notifications/feed': { get: returns(ref('InboxPage')) },
      '/v1/subscribers/{id}/preferences': { patch: { responses: trigger } },
      '/v1/subscribers/{id}/messages/mark-some': { post: { operationId: 'markMessages', responses: trigger } },
      '/v1/inboxes/{id}': { get: { operationId: 'inbox', ...returns(ref('Inbox')) } },
      '/v1/inboxes/{id}/pages': { get: returns(ref('InboxPage')) },
      '/v1/events/trigger': { post: { operationId: 'triggerEvent', responses: trigger } },
      '/v1/events/trigger/all': { post: { operationId: 'triggerEvents', responses: trigger } },
      '/v1/feeds': { get: returns({ type: 'array', items: ref('TopicDto') }) },
      '/v1/messages': { get: returns(ref('WorkflowList')) },
      '/v1/messages/{id}': { delete: { operationId: 'deleteMessage', responses: trigger } },
      '/v1/messages/{id}/copies': { get: { operationId: 'messages', ...returns(ref('Message')) } },
      '/v1/workflows': { get: returns(ref('WorkflowList')) },
      '/v1/workflows/{id}': { get: returns(ref('WorkflowDto')) },
      '/v1/layouts/{layoutId}': { get: returns(shape('_id', 'topicKey')) },
    },
    components: {
      schemas: {
        TopicDto: topic,
        SubscriberDto: shape('subscriberId'),
        Message: shape('_id'),
        Inbox: shape('_id', 'unseen'),
        InboxPage: shape('content'),
        SubscriberPage: shape('name'),
        WorkflowDto: shape('_id', 'name'),
        WorkflowList: shape('name'),
      },
    },
  });
  const { stdout } = await run('module', 'new', 'service', '--openapi', 'service.json');
  expect(stdout).toContain(`Wrote service.ts:
  Query.topicLayouts: GET /v1/topics/{topicKey}/layouts
  Query.subscriberPage: GET /v1/subscribers/{id}/page
  Mutation.serviceMarkMessages: POST /v1/subscribers/{id}/messages/mark-some
  Query.serviceInbox: GET /v1/inboxes/{id}
  Query.inboxPages: GET /v1/inboxes/{id}/pages
  Mutation.serviceTriggerEvents: POST /v1/events/trigger/all
  Query.messageCopies: GET /v1/messages/{id}/copies
  Query.layout: GET /v1/layouts/{layoutId}

Skipped:
  GET /v1/topics: a field of notigraph/modules/topics calls it.
  POST /v1/topics: a field of notigraph/modules/topics calls it.
  GET /v1/topics/{key}: a field of notigraph/modules/topics calls it.
  DELETE /v1/topics/{key}: a field of notigraph/modules/topics calls it.
  GET /v1/subscribers/{id}: a field of notigraph/modules/subscribers calls it.
  GET /v1/subscribers/{id}/notifications/feed: a field of notigraph/modules/inbox calls it.
  PATCH /v1/subscribers/{id}/preferences: a field of notigraph/modules/inbox calls it.
  POST /v1/events/trigger: a field of notigraph/modules/events calls it.
  GET /v1/feeds: a field of notigraph/modules/messages calls it.
  GET /v1/messages: a field of notigraph/modules/messages calls it.
  DELETE /v1/messages/{id}: a field of notigraph/modules/messages calls it.
  GET /v1/workflows: a field of notigraph/modules/workflows calls it.
  GET /v1/workflows/{id}: a built-in field calls it.
`);
  for (const modules of [
    [...SHIPPED, './service.ts'],
    ['./service.ts', ...SHIPPED],
  ]) {
    const checked = await run('check', '--without-secrets', '--modules', modules.join(','));
    expect([checked.code, checked.stderr]).toEqual([0, '']);
  }
});

it('the next module of a document can be used with those that the configuration names, and one of them is written again as before', async () => {
  const shared = { type: 'object', properties: { part: ref('PartDto') } };
  await write('parts.json', {
    openapi: '3.0.0',
    paths: { '/v1/aaa': { get: returns(shared) }, '/v1/bbb': { get: returns(shared) } },
    components: { schemas: { PartDto: shape('name') } },
  });
  await run('module', 'new', 'aaa', '--openapi', 'parts.json', '--path', '/v1/aaa');
  await write('notigraph.config.yaml', 'modules: [notigraph/modules/events, ./aaa.ts, ./bbb.ts]\n');
  const next = await run('module', 'new', 'bbb', '--openapi', 'parts.json');
  expect(next.stdout).toContain('Wrote bbb.ts:\n  Query.bbb: GET /v1/bbb\n');
  expect(next.stdout).toContain('\n  GET /v1/aaa: a field of aaa calls it.\n');
  const checked = await run('check', '--without-secrets');
  expect([checked.code, checked.stderr]).toEqual([0, '']);
  await run('module', 'new', 'aaa', '--openapi', 'parts.json', '--path', '/v1/aaa', '--output', 'again.ts');
  expect(await readFile(folder.path('again.ts'), 'utf8')).toBe(await readFile(folder.path('aaa.ts'), 'utf8'));
});

it('types are those of the document’s references, and the record that is read by id has the name of its noun', async () => {
  const envelope = { type: 'object', properties: { data: ref('GetLayoutResponseDto') } };
  const status = { status: { type: 'string', enum: ['on', 'off'] } };
  await write('types.json', {
    openapi: '3.0.0',
    paths: {
      '/v1/aaa': { get: { operationId: 'listAaa', ...returns({ type: 'array', items: shape('_id') }) } },
      '/v1/layouts': {
        post: { operationId: 'createLayout', ...returns(ref('CreateLayoutResponseDto')) },
        get: { operationId: 'listLayouts', ...returns({ type: 'array', items: ref('GetLayoutResponseDto') }) },
      },
      '/v1/layouts/{layoutId}': { get: { operationId: 'getLayout', ...returns(envelope) } },
      '/v1/layouts/{layoutId}/copy': { post: { operationId: 'copyLayout', ...returns(shape('copyId')) } },
      '/v1/layouts/{layoutId}/move': { post: { operationId: 'moveLayout', ...returns(shape('copyId')) } },
      '/v1/notes/{id}': { delete: { operationId: 'deleteNote', ...returns(ref('DeleteNoteDto')) } },
      '/v1/members/{id}': { delete: { operationId: 'deleteMember', ...returns(ref('DeleteMemberDto')) } },
      '/v1/tenants/{id}': { get: { operationId: 'getTenant', ...returns(shape('_id', 'data')) } },
    },
    components: {
      schemas: {
        CreateLayoutResponseDto: shape('_id'),
        GetLayoutResponseDto: { type: 'object', required: ['_id'], properties: { _id: { type: 'string' }, ...status } },
        DeleteNoteDto: { type: 'object', properties: status },
        DeleteMemberDto: { type: 'object', properties: status },
      },
    },
  });
  await run('module', 'new', 'types', '--openapi', 'types.json');
  const { stdout } = await run('schema', 'print', '--modules', './types.ts');
  const typeOf = (field: string) => new RegExp(`  ${field}(?:\\([^)]*\\))?: (.*)`).exec(stdout)?.[1];
  const fields = ['aaa', 'layout', 'layouts', 'createLayout', 'deleteNote', 'deleteMember', 'tenant'];
  expect(fields.map(typeOf)).toEqual([
    '[Aaa]',
    'Layout',
    '[Layout]',
    'CreateLayout!',
    'DeleteNote!',
    'DeleteMember!',
    'Tenant',
  ]);
  expect(stdout.match(/copyLayoutResponse: .*/g)).toEqual(Array(2).fill('copyLayoutResponse: CopyLayoutResponse!'));
});

describe('adding a path to a document changes only lines of that path, with', () => {
  const { properties } = shape('id', 'name', 'apiKey', '_workflowId');
  const author = { type: 'object', required: ['name', 'id'], properties };
  const status = { type: 'string', enum: ['available', 'on-loan'] };
  const added: [string, string, object, object?][] = [
    ['a shape of another one', '/aaa', { get: returns(author) }],
    ['a reference to a shape of another one', '/aaa', { get: returns(ref('Aaa')) }, { Aaa: author }],
    ['a reference with a similar name', '/aaa', { get: returns(ref('DetailsDto')) }, { DetailsDto: shape('aaa') }],
    ['the same reference', '/aaa', { get: returns({ type: 'array', items: ref('BookResponseDto') }) }],
    ['the same page', '/aaa', { get: returns(ref('PageDto')) }],
    [
      'the same reference, and an enum of its members',
      '/aaa',
      {
        get: {
          parameters: [{ name: 'status', in: 'query', schema: status }],
          ...returns({ type: 'array', items: ref('BookResponseDto') }),
        },
      },
    ],
    ['a parameter that is named like a secret', '/aaa/{apiKey}', { get: returns({ type: 'object', properties }) }],
    [
      'an input of another one',
      '/aaa',
      {
        post: {
          operationId: 'createAaa',
          requestBody: { content: { 'application/json': { schema: shape('details') } } },
          ...returns(status),
        },
      },
    ],
    ['its noun', '/books/aaa', { get: returns(shape('aaa')) }],
  ];

  it.each(added)('%s', async (_, path, item, schemas = {}) => {
    const library = parse(await readFile(join(ROOT, 'packages/cli/test/documents/library.yaml'), 'utf8'));
    const entries = Object.entries<object>(library.paths);
    const components = { schemas: { ...library.components.schemas, ...schemas } };
    const generate = async (file: string, paths: [string, object][]) => {
      await write(`${file}.json`, { ...library, components, paths: Object.fromEntries(paths) });
      await run('module', 'new', 'books', '--openapi', `${file}.json`, '--output', `${file}.ts`);
      return (await readFile(folder.path(`${file}.ts`), 'utf8')).split('\n');
    };
    const before = await generate('before', entries);
    for (const at of [0, 3, entries.length]) {
      const after = await generate(`after${at}`, entries.toSpliced(at, 0, [path, item]));
      const rest = [...before];
      for (const line of after) {
        if (line === rest[0]) {
          rest.shift();
        }
      }
      expect(rest).toEqual([]);
      expect(after.length).toBeGreaterThan(before.length);
    }
  });
});

it('skips a path that differs from another one only in the name of a parameter', async () => {
  const paths = { '/v1/a/{id}': { get: returns(shape('b')) }, '/v1/a/{key}': { get: returns(shape('c')), delete: {} } };
  await write('same.json', { openapi: '3.0.0', paths });
  const { stdout } = await run('module', 'new', 'same', '--openapi', 'same.json');
  expect(stdout).toContain('\n  GET /v1/a/{key}: it differs from GET /v1/a/{id} only in the name of a parameter.\n');
  expect(stdout).toContain('\n  Mutation.deleteA: DELETE /v1/a/{key}\n');
  expect((await run('check', '--without-secrets', '--modules', './same.ts')).code).toBe(0);
});

it('a member of a body with the name of a parameter leaves the parameter its path in the input', async () => {
  const body = { content: { 'application/json': { schema: shape('id', 'book_title') } } };
  const put = { operationId: 'putBook', requestBody: body, ...returns(shape('id')) };
  await write('same.json', { openapi: '3.1.0', info: {}, paths: { '/v1/aaa/{id}': { put } } });
  await run('module', 'new', 'same', '--openapi', 'same.json');
  const text = await readFile(folder.path('same.ts'), 'utf8');
  expect(text).toMatch(/body: \{\s+id: input\.\w+,\s+book_title: input\.bookTitle,/);
  expect(text).toMatch(/inputPath: \{\s+book_title: 'bookTitle',\s+\},/);
});

it('names fields after the path where the id of an operation says nothing about it', async () => {
  const read = (operationId?: string) => ({
    get: {
      ...(operationId === undefined ? {} : { operationId }),
      responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } },
    },
  });
  const change = (operationId: string) => ({ post: { operationId, responses: { 204: { description: 'Done.' } } } });
  await write('names.json', {
    openapi: '3.0.0',
    paths: {
      '/v1/slots': { ...read('SlotsController_propertyDescriptor'), ...change('SlotsController_propertyDescriptor') },
      '/v1/slots/{id}': read('getSlotById'),
      '/v1/slots/{id};full': read(),
      '/v1/slots/{id}.json': read(),
      '/v1/slots/{from},{to}': read(),
      '/v1/slots/all.tar.gz': read(),
      '/v1/slots/{id}:archive': change('archive'),
    },
  });
  const { stdout } = await run('module', 'new', 'names', '--openapi', 'names.json');
  expect(stdout).toContain(`Wrote names.ts:
  Query.slots: GET /v1/slots
  Mutation.createSlot: POST /v1/slots
  Query.slotById: GET /v1/slots/{id}
  Query.slotFull: GET /v1/slots/{id};full
  Query.slotJson: GET /v1/slots/{id}.json
  Query.slot: GET /v1/slots/{from},{to}
  Query.slotAllTarGz: GET /v1/slots/all.tar.gz
  Mutation.createSlotArchive: POST /v1/slots/{id}:archive
`);
});

it('nested compositions take no exponential time', async () => {
  const schemas: Record<string, object> = {
    S0: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  };
  for (let i = 1; i < 60; i += 1) {
    const ref = { $ref: `#/components/schemas/S${i - 1}` };
    schemas[`S${i}`] = { allOf: [ref, ref, { required: ['a'] }] };
  }
  schemas.Circle = { allOf: Array(4).fill({ allOf: Array(4).fill({ $ref: '#/components/schemas/Circle' }) }) };
  const get = (name: string) => ({
    get: {
      responses: { 200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } } },
    },
  });
  await write('nested.json', {
    openapi: '3.0.0',
    paths: { '/v1/nested': get('S40'), '/v1/circle': get('Circle'), '/v1/deep': get('S59') },
    components: { schemas },
  });
  const start = Date.now();
  const { stdout } = await run('module', 'new', 'nested', '--openapi', 'nested.json');
  expect(Date.now() - start).toBeLessThan(30_000);
  expect(stdout).toContain('Query.nested: GET /v1/nested');
  expect(stdout).toContain('GET /v1/circle: its schema refers to itself.');
}, 60_000);

it('names in a YAML document are texts, whatever they look like', async () => {
  const names = ['null', '0042', '1e3', 'yes', '2026-01-02', '12345678901234567'];
  await write(
    'odd.yaml',
    `openapi: 3.0.0
paths:
  /v1/odds:
    get:
      responses:
        200:
          content:
            application/json:
              schema:
                type: object
                properties:
${names.map((name) => `                  ${name}: { type: string }\n`).join('')}`,
  );
  const { code, stdout } = await run('module', 'new', 'odds', '--openapi', 'odd.yaml');
  expect({ code, stdout }).toMatchObject({ code: 0 });
  const text = await readFile(folder.path('odds.ts'), 'utf8');
  for (const name of names) {
    expect(text).toContain(name);
  }
});

it.each([
  ['a document that does not exist', ['a', '--openapi', 'none.json'], /^none\.json doesn't exist\.$/m],
  ['another document', ['a', '--openapi', 'other.json'], /^other\.json is not an OpenAPI document/m],
  ['an older version', ['a', '--openapi', 'swagger.json'], /^swagger\.json is a Swagger 2 document\. Convert it/m],
  ['no path that matches', ['a', '--openapi', 'empty.json', '--path', '/v2*'], /^Nothing was written: no path/m],
  ['a file that exists', ['a', '--openapi', 'empty.json', '--output', 'empty.json'], /^empty\.json already exists/m],
  ['a link that leads nowhere', ['a', '--openapi', 'paths.json', '--output', 'link.ts'], /^link\.ts already exists/m],
  [
    'a folder that does not exist',
    ['a', '--openapi', 'paths.json', '--output', 'no/a.ts'],
    /^no\/a\.ts can't be written: its folder/m,
  ],
  ['a name that is a path', ['../a', '--openapi', 'empty.json'], /^NAME must consist of lowercase letters/m],
  ['the name of a built-in module', ['feeds', '--openapi', 'empty.json'], /^NAME is that of a built-in module/m],
  ['no document', ['a'], /^--openapi is required/m],
])('says what to do about %s, and writes nothing', async (_, args, message) => {
  await write('other.json', {});
  await write('swagger.json', { swagger: '2.0', paths: {} });
  await write('empty.json', { openapi: '3.0.0', paths: {} });
  await write('paths.json', { openapi: '3.0.0', paths: { '/v1/things': { get: { responses: { 200: {} } } } } });
  await symlink('nowhere', folder.path('link.ts'));
  const { code, stdout, stderr } = await run('module', 'new', ...args);
  expect([code, stdout + stderr]).toEqual([2, expect.stringMatching(message)]);
  await expect(readFile(folder.path('a.ts'))).rejects.toThrow('ENOENT');
});
