// Compiles generated modules as strictly as the project, with types for others.

import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { ROOT } from '../../../test/support/docs.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';

const folder = createFolderOfEachTest();

const write = (file: string, content: unknown) =>
  writeFile(folder.path(file), typeof content === 'string' ? content : JSON.stringify(content));

const run = (...args: string[]) => runCommand({ cwd: folder.path(), args });

/** Compiles files strictly. Rejects if that fails. */
async function compile(...files: string[]): Promise<void> {
  await write('package.json', { type: 'module' });
  await write('tsconfig.json', {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      declaration: true,
      paths: { 'notigraph/modules': [join(ROOT, 'src/modules/index.ts')] },
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    files,
    include: [],
    exclude: [],
  });
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript-7/bin/tsc'), '-p', '.'], {
    cwd: folder.path(),
  });
}

/** Module that refers to the generated one. */
const USER = `
  import { defineModule } from 'notigraph/modules';
  import books from './books.ts';

  export default defineModule('shelves', ({ builder, declareCalls, requireScopes, use }) => {
    const { Author, authorLoader } = use(books);
    const Shelf = builder.objectRef<{ authorId: string }>('Shelf').implement({
      description: 'A shelf.',
      extensions: requireScopes('shelves:read'),
      fields: (t) => ({
        author: t.field({
          type: Author,
          nullable: true,
          extensions: declareCalls('1', { loader: authorLoader, reason: 'One per author.' }),
          description: 'Its author.',
          resolve: ({ authorId }, _args, ctx) => ctx.loaders.load(authorLoader, authorId),
        }),
      }),
    });
    builder.objectField(Author, 'shelf', (t) =>
      t.field({ type: Shelf, description: 'Its shelf.', resolve: ({ id }) => ({ authorId: id }) }),
    );
    return { Shelf };
  });
`;

/** Text that would be code if it were not escaped, in a string, a template, a comment or a type. */
const CODE = '\'"`*/\n\u2028});\r\nglobalThis.wasRun = true; // $\u007bglobalThis.wasRun = true}';

it('modules compile, and texts of a hostile document are only literals in them, and impossible parts are skipped', async () => {
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
  expect(stdout).toMatch(/\/v1\/outside: it refers to another document, or to itself\.\n/);
  await cp(join(ROOT, 'packages/cli/test/documents/library.yaml'), folder.path('library.yaml'));
  await run('module', 'new', 'books', '--openapi', 'library.yaml');
  await write('shelves.ts', USER);
  await compile('books.ts', 'hostile.ts', 'shelves.ts');
  expect((await run('check', '--without-secrets', '--modules', './shelves.ts')).stdout).toContain('\n  Author.shelf ');
  const text = await readFile(folder.path('hostile.ts'), 'utf8');
  const withoutLiterals = text.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
  expect(withoutLiterals).not.toMatch(/globalThis|wasRun/);
  expect(await run('check', '--modules', './hostile.ts', '--upstream', 'http://127.0.0.1:9')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Module hostile adds '),
  });
});
