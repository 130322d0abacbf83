import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../support/docs.ts';
import { runNotigraph, startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { startService } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeEach(async () => {
  folder = await createTemporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

const write = (file: string, content: unknown) =>
  writeFile(folder.path(file), typeof content === 'string' ? content : JSON.stringify(content));

const run = (...args: string[]) => runNotigraph({ cwd: folder.path(), args });

const runTool = (tool: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'node_modules', tool), ...args], { cwd: folder.path() });

/** Compiles a file strictly, and checks that a formatter would change nothing. Rejects otherwise. */
async function compile(file: string): Promise<void> {
  await write('package.json', { type: 'module' });
  await write('tsconfig.json', {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      paths: { 'notigraph/modules': [join(ROOT, 'src/modules/index.ts')] },
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    files: [file],
    include: [],
    exclude: [],
  });
  await write('biome.json', {
    formatter: { indentStyle: 'space', lineWidth: 120 },
    javascript: { formatter: { quoteStyle: 'single' } },
  });
  await runTool('typescript/bin/tsc', '-p', '.');
  await runTool('@biomejs/biome/bin/biome', 'format', file);
}

it('a document becomes a module that compiles, is formatted, passes the check and serves', async () => {
  await cp(join(ROOT, 'test/cli/documents/library.yaml'), folder.path('library.yaml'));
  const { code, stdout } = await run('module', 'new', 'books', '--openapi', 'library.yaml');
  expect(code).toBe(0);
  expect(stdout).toBe(`Wrote books.ts:
  Query.books: GET /v1/books
  Mutation.createBook: POST /v1/books
  Query.book: GET /v1/books/{bookId}
  Mutation.renameBook: PATCH /v1/books/{bookId}
  Mutation.deleteBook: DELETE /v1/books/{bookId}
  Query.genres: GET /v1/genres

Skipped:
  GET /v1/books, query parameter tags: a parameter of the query is a text, a number or a boolean.
  GET /v1/books, header parameter X-Trace: the gateway sends no headers or cookies of callers.
  PUT /v1/books/{bookId}/cover: its body is multipart/form-data, not JSON.
  GET /v1/export: its response is text/csv, not JSON.
  GET /v1/workflows/{id}: a built-in field calls it.

Next steps:
  Decide what its TODO comments ask: there are 6.
  Name the file in the setting modules, and run npx notigraph check. See docs/modules.md.
`);
  await compile('books.ts');

  const book = { _id: 'b 1', title: 'Emma', status: 'on-loan', author_id: 'a1', published_at: null };
  await using service = await startService(({ method, path }) =>
    method === 'POST'
      ? { status: 409, body: { message: 'It exists.' } }
      : method === 'DELETE'
        ? { status: 204 }
        : path.startsWith('/v1/books?')
          ? { body: { data: [book], hasMore: false } }
          : { body: { data: book } },
  );
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    args: ['--modules', './books.ts', '--upstream', service.url],
  });
  const send = (document: string) => sendOperation(notigraph.url, document);
  expect(await send('{ books(page: 2, sortBy: PUBLICATION_DATE) { books { id status } hasMore pageSize } }')).toEqual({
    data: { books: { books: [{ id: 'b 1', status: 'ON_LOAN' }], hasMore: false, pageSize: null } },
  });
  expect(await send('{ book(bookId: "b 1") { title authorId publishedAt sequel { id } } }')).toEqual({
    data: { book: { title: 'Emma', authorId: 'a1', publishedAt: null, sequel: null } },
  });
  const create = 'createBook(input: { title: "Emma", inPrint: true, idempotencyKey: "k1" })';
  expect(await send(`mutation { ${create} { __typename ... on MutationError { message } } }`)).toEqual({
    data: { createBook: { __typename: 'ConflictError', message: 'It exists.' } },
  });
  expect(service.requests.at(-1)).toMatchObject({
    body: JSON.stringify({ title: 'Emma', in_print: true }),
    headers: { 'idempotency-key': expect.stringMatching(/^[\da-f]{64}$/) },
  });
  expect(
    await send('mutation { deleteBook(input: { bookId: "b1" }) { ... on DeleteBookSuccess { deletedBookId } } }'),
  ).toEqual({ data: { deleteBook: { deletedBookId: 'b1' } } });
  expect(service.calls().filter((call) => call.includes('/books'))).toEqual([
    'GET /v1/books?page=2&sort_by=publication-date',
    'GET /v1/books/b%201',
    'POST /v1/books',
    'DELETE /v1/books/b1',
  ]);
});

/** Text that would be code if it were not escaped, in a string, a template, a comment or a type. */
const CODE = '\'"`*/\n\u2028});\r\nglobalThis.wasRun = true; // $\u007bglobalThis.wasRun = true}';

it('texts of a hostile document are only literals, and impossible parts are skipped', async () => {
  const circle = { type: 'object', properties: { self: { $ref: '#/components/schemas/Circle' } } };
  const respond = (schema: unknown) => ({ 200: { description: CODE, content: { 'application/json': { schema } } } });
  let deep: object = { type: 'string' };
  for (let i = 0; i < 2_000; i += 1) {
    deep = { type: 'object', properties: { a: deep } };
  }
  await write('hostile.json', {
    openapi: '3.1.0',
    paths: {
      '/v1/a': {
        get: {
          operationId: CODE,
          summary: CODE,
          parameters: [{ name: CODE, in: 'query', description: CODE, schema: { type: 'string', enum: [CODE, 'b'] } }],
          responses: respond({
            type: 'object',
            title: CODE,
            required: [CODE],
            properties: {
              [CODE]: { type: 'string', description: CODE },
              constructor: { type: 'string' },
              __proto__x: { type: 'string' },
              circle: { $ref: '#/components/schemas/Circle' },
              endless: { $ref: '#/components/schemas/Endless' },
              deep,
            },
          }),
        },
      },
      '/v1/{constructor}/b': { delete: { responses: { 204: {} } } },
      [`/v1/${CODE}`]: { get: { responses: respond({}) } },
      '/v1/outside': { get: { responses: respond({ $ref: 'https://example.com/other.json' }) } },
    },
    components: { schemas: { Circle: circle, Endless: { $ref: '#/components/schemas/Endless' } } },
  });
  const { code, stdout, stderr } = await run('module', 'new', 'hostile', '--openapi', 'hostile.json');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/\/v1\/outside: it refers to another document\.\n/);
  await compile('hostile.ts');
  const text = await readFile(folder.path('hostile.ts'), 'utf8');
  const withoutLiterals = text.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
  expect(withoutLiterals).not.toMatch(/globalThis|wasRun/);
  expect(await run('check', '--modules', './hostile.ts', '--upstream', 'http://127.0.0.1:9')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Module hostile adds '),
  });
});

it.each([
  ['a document that does not exist', ['a', '--openapi', 'none.json'], /^none\.json doesn't exist\.$/m],
  ['another document', ['a', '--openapi', 'other.json'], /^other\.json is not an OpenAPI document/m],
  ['an older version', ['a', '--openapi', 'swagger.json'], /^swagger\.json is a Swagger 2 document\. Convert it/m],
  ['no path that matches', ['a', '--openapi', 'empty.json', '--path', '/v2*'], /^Nothing was written: no path/m],
  ['a file that exists', ['a', '--openapi', 'empty.json', '--output', 'empty.json'], /^empty\.json already exists/m],
  ['a name that is a path', ['../a', '--openapi', 'empty.json'], /^NAME must consist of lowercase letters/m],
  ['the name of a built-in module', ['feeds', '--openapi', 'empty.json'], /^NAME is that of a built-in module/m],
  ['no document', ['a'], /^--openapi is required/m],
])('says what to do about %s, and writes nothing', async (_, args, message) => {
  await write('other.json', {});
  await write('swagger.json', { swagger: '2.0', paths: {} });
  await write('empty.json', { openapi: '3.0.0', paths: {} });
  const { code, stdout, stderr } = await run('module', 'new', ...args);
  expect([code, stdout + stderr]).toEqual([2, expect.stringMatching(message)]);
  await expect(readFile(folder.path('a.ts'))).rejects.toThrow('ENOENT');
});
