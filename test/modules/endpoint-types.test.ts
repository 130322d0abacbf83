import { describe, expectTypeOf, test } from 'vitest';
import type { Toolkit } from '../../src/modules/index.ts';
import type { UpstreamClient } from '../../src/upstream/calls.ts';
import { endpoint } from '../../src/upstream/endpoint.ts';

// `npm run check` compiles this file: an expected error that is missing fails it. None of the calls is made.

const getPart = endpoint('GET /v1/things/{id}/parts/{partId}.json').returns<{ name: string }>();
const list = endpoint('GET /v1/things', { expect: 'page' })
  .takes<{ query: { page: number; key?: string; tags: readonly string[] } }>()
  .returns<{ data: string[] }>();
const create = endpoint('POST /v1/things', { idempotent: true }).takes<{ body: { name: string } }>();
const replace = endpoint('PUT /v1/things/{id}', { headers: { 'If-Match': true, 'X-Version': '2' } })
  .takes<{ body: { name: string } }>()
  .returns<{ id: string }>();
const update = endpoint('PATCH /v1/things/{id}').takes<{
  body: { name?: string; parts?: { size?: number }[]; owner: { id: string } | undefined; data: unknown };
}>();
const remove = endpoint('DELETE /v1/things/{id}', { expect: 'nothing' });
const archive = endpoint('POST /v1/things/{id}:archive');
const getText = endpoint('GET /v1/things/{id}/text', { expect: 'text' });

describe('Arguments of calls', () => {
  test('are the parameters of the path, and those that the declaration takes', () => {
    const compile = ({ read, write }: UpstreamClient) => {
      void read(getPart, { id: '1', partId: '2' });
      void read(list, { query: { page: 1, tags: ['a'] } });
      void write(create, { body: { name: 'a' }, idempotencyKey: 'k' });
      void write(replace, { id: '1', body: { name: 'a' }, headers: { 'If-Match': null } });
      void write(archive, { id: '1' });
      void read(list, { query: { page: 1, key: null, tags: ['a'] } });
      void write(update, { id: '1', body: { name: null, parts: [{ size: null }], owner: null, data: null } });

      // @ts-expect-error a parameter is missing
      void read(getPart, { id: '1' });
      // @ts-expect-error a parameter is misspelled
      void read(getPart, { id: '1', partid: '2' });
      // @ts-expect-error there is no such parameter
      void read(getPart, { id: '1', partId: '2', other: '3' });
      // @ts-expect-error an id is a text
      void read(getPart, { id: '1', partId: undefined });
      // @ts-expect-error it takes no query
      void read(getPart, { id: '1', partId: '2', query: { a: '1' } });
      // @ts-expect-error the query is missing
      void read(list, {});
      // @ts-expect-error a parameter of the query is missing
      void read(list, { query: { page: 1 } });
      // @ts-expect-error a read has no body
      void read(list, { query: { page: 1, tags: [] }, body: {} });
      // @ts-expect-error it is a write
      void read(create, { body: { name: 'a' } });
      // @ts-expect-error it is a read
      void write(list, { query: { page: 1, tags: [] } });
      // @ts-expect-error the body is missing
      void write(create, {});
      // @ts-expect-error the member is not optional
      void read(list, { query: { page: null, tags: ['a'] } });
      // @ts-expect-error the body is not optional
      void write(create, { body: null });
      // @ts-expect-error the nested member is not optional
      void write(update, { id: '1', body: { owner: { id: null }, data: 1 } });
      // @ts-expect-error the body has no such member
      void write(create, { body: { name: 'a', other: 'b' } });
      // @ts-expect-error the header is missing
      void write(replace, { id: '1', body: { name: 'a' } });
      // @ts-expect-error the header is fixed
      void write(replace, { id: '1', body: { name: 'a' }, headers: { 'If-Match': '"a"', 'X-Version': '3' } });
      // @ts-expect-error it declares no headers
      void write(archive, { id: '1', headers: { 'If-Match': '"a"' } });
    };
    expectTypeOf(compile).parameters.toEqualTypeOf<[UpstreamClient]>();
  });

  test('can only be declared in forms that can be sent', () => {
    const compile = () => {
      // @ts-expect-error a read has no body
      endpoint('GET /v1/things').takes<{ body: { name: string } }>();
      // @ts-expect-error only query and body can be declared
      endpoint('GET /v1/things').takes<{ query: { a: string }; id: string }>();
      // @ts-expect-error an object can't be sent in a query
      endpoint('GET /v1/things').takes<{ query: { filter: { name: string } } }>();
      // @ts-expect-error lists of lists can't be sent in a query
      endpoint('GET /v1/things').takes<{ query: { a: string[][] } }>();
      // @ts-expect-error a body is an object or a list
      endpoint('POST /v1/things').takes<{ body: string }>();
      // @ts-expect-error there is no such option
      endpoint('GET /v1/things', { expects: 'list' });
      // @ts-expect-error it is an option of writes
      endpoint('GET /v1/things', { idempotent: true });
      // @ts-expect-error it is an option of reads
      endpoint('POST /v1/things', { cached: { resource: 'things' } });
      // @ts-expect-error windows are complete
      endpoint('GET /v1/things', { cached: { resource: 'things', windows: { freshSeconds: 1 } } });
      // @ts-expect-error the arguments follow from the template
      endpoint<{ id: string }, { name: string }>('GET /v1/things/{id}');
    };
    expectTypeOf(compile).returns.toBeVoid();
  });
});

test('A loader reads with the key alone', () => {
  const compile = ({ loader }: Toolkit) => {
    loader<{ name: string }>({ name: 'a', get: endpoint('GET /v1/things/{id}').returns<{ name: string }>() });
    const inLanguage = endpoint('GET /v1/things/{id}').takes<{ query: { lang: string } }>().returns<{ name: string }>();
    // @ts-expect-error the query would be missing
    loader<{ name: string }>({ name: 'b', get: inLanguage });
    const conditional = endpoint('GET /v1/things/{id}', { headers: { 'If-Match': true } }).returns<{ name: string }>();
    // @ts-expect-error the header would be missing
    loader<{ name: string }>({ name: 'c', get: conditional });
    const several = endpoint('GET /v1/things', { expect: 'page' }).returns<{ data: { name: string }[] }>();
    const many = { endpoint: several, keyOf: ({ name }: { name: string }) => name };
    loader<{ name: string }>({ name: 'd', many: { ...many, argsOf: (ids) => ({ query: { ids } }) } });
    // @ts-expect-error nothing reads one record, or selects several
    loader<{ name: string }>({ name: 'e', many });
  };
  expectTypeOf(compile).parameters.toEqualTypeOf<[Toolkit]>();
});

describe('Responses', () => {
  test('have the declared type, or the one that follows from their form', () => {
    const compile = async ({ read, write }: UpstreamClient) => ({
      part: await read(getPart, { id: '1', partId: '2' }),
      text: await read(getText, { id: '1' }),
      removed: (await write(remove, { id: '1' })).body,
      archived: (await write(archive, { id: '1' })).body,
    });
    expectTypeOf<Awaited<ReturnType<typeof compile>>>().toEqualTypeOf<{
      part: { name: string } | null;
      text: string | null;
      removed: undefined;
      archived: unknown;
    }>();
  });
});
