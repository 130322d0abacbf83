import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createReadRequiredScopes } from '../src/graphql/required-scopes.ts';
import { createSchema } from '../src/graphql/schema.ts';
import { createCheckDocument, type DocumentRules } from '../src/plugins/check-document.ts';
import { createPreparedOperations, type PreparedOperationsOptions } from '../src/prepared/prepared-operations.ts';

const schema = createSchema();

function prepared(options: Partial<PreparedOperationsOptions> = {}, rules: DocumentRules = {}) {
  const check = createCheckDocument(rules);
  const parsed = vi.spyOn(check, 'accept');
  return {
    parsed,
    operations: createPreparedOperations({
      schema,
      check,
      readRequiredScopes: createReadRequiredScopes(schema),
      ...options,
    }),
  };
}

const QUERY = 'query Hot { __typename }';
const named = (i: number) => `query N${i} { __typename }`;

describe('an operation', () => {
  it('is compiled when it is asked for the fourth time, after that request', async () => {
    const { operations, parsed } = prepared();
    for (let i = 0; i < 4; i += 1) {
      expect(operations.find(QUERY, undefined)).toBeUndefined();
      expect(parsed).not.toHaveBeenCalled();
    }
    await immediate();
    expect(operations.find(QUERY, undefined)).toMatchObject({ name: 'Hot', type: 'query' });
    expect(parsed).toHaveBeenCalledOnce();
  });

  it('is not mistaken for another whose name and text read alike when put together', () => {
    const { operations } = prepared({ compileAfter: 0 });
    expect(operations.find('# c\n{ __typename }', undefined)).toBeDefined();
    expect(operations.find('{ __typename }', '# c')).toBeUndefined();
    expect(operations.find('query\nA { __typename }', undefined)).toBeDefined();
    expect(operations.find('A { __typename }', 'query')).toBeUndefined();
    expect(operations.find('#\0\n{ __typename }', undefined)).toBeDefined(); // A comment may hold a NUL.
    expect(operations.find('\n{ __typename }', '#')).toBeUndefined();
  });

  it.each([
    ['on its spread', '{ ...F @skip(if: true) ...G } fragment F on Query { ...G } fragment G on Query { __typename }'],
    ['around it', '{ ... @include(if: true) { ...G } } fragment G on Query { __typename }'],
  ])('is left to graphql-js where a fragment has a condition %s', (_, text) => {
    expect(prepared({ compileAfter: 0 }).operations.find(text, undefined)).toBeUndefined();
  });

  it('is not looked for under a name that is longer than any frontend’s', () => {
    const { operations, parsed } = prepared({ compileAfter: 0 });
    const name = 'n'.repeat(101);
    expect(operations.find(`query ${name} { __typename }`, name)).toBeUndefined();
    expect(parsed).not.toHaveBeenCalled();
  });

  it('is another one under another name', () => {
    const { operations } = prepared({ compileAfter: 0 });
    const both = 'query A { __typename } mutation B { createFeed(input: { name: "a" }) { __typename } }';
    expect(operations.find(both, 'A')).toMatchObject({ name: 'A', type: 'query' });
    expect(operations.find(both, 'B')).toMatchObject({ name: 'B', type: 'mutation' });
    expect(operations.find(both, 'C')).toBeUndefined();
    expect(operations.find(both, undefined)).toBeUndefined();
  });

  it.each([
    ['is no GraphQL', '{', {}],
    ['does not fit the schema', '{ nothing }', {}],
    ['is larger than the limits let it be', '{ __typename __typename }', { maxTokens: 3 }],
    [
      'has more aliases than the limits let it have',
      '{ __schema { types { name } } a: __typename }',
      { maxAliases: 0 },
    ],
    ['asks for the schema where nobody may', '{ __schema { description } }', { introspection: false }],
    ['is a subscription', 'subscription { a }', {}],
    ['is longer than any frontend’s', `{ __typename } #${'x'.repeat(20_000)}`, {}],
  ])('that %s is never compiled', (_, text, rules) => {
    const { operations } = prepared({ compileAfter: 0 }, rules);
    expect(operations.find(text, undefined)).toBeUndefined();
  });

  it('whose variables do not fit is not carried out', () => {
    const { operations } = prepared({ compileAfter: 0 });
    const operation = operations.find('query Q($a: Int!) { notificationStats(days: $a) { count } }', undefined);
    expect(operation?.execute({}, { a: 'x' })).toBeUndefined();
  });
});

describe('a stream of new documents', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    return () => vi.useRealTimers();
  });

  it('makes one compilation at a time, and then a pause of twenty times as long', async () => {
    const { operations, parsed } = prepared({ compileAfter: 1 });
    parsed.mockImplementation(() => {
      vi.advanceTimersByTime(10); // So long does it take.
      return undefined;
    });
    const ask = async (i: number) => {
      operations.find(named(i), undefined);
      operations.find(named(i), undefined);
      await immediate();
    };
    await ask(1);
    expect(parsed).toHaveBeenCalledTimes(1);
    await ask(2);
    vi.advanceTimersByTime(199);
    await ask(3);
    expect(parsed).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    await ask(4);
    expect(parsed).toHaveBeenCalledTimes(2);
  });

  it('does not push out what is in use, and does not grow', () => {
    const { operations, parsed } = prepared({ compileAfter: 0, maxOperations: 10 });
    const hot = operations.find(QUERY, undefined);
    for (let i = 0; i < 50; i += 1) {
      operations.find(named(i), undefined);
      expect(operations.find(QUERY, undefined)).toBe(hot);
    }
    parsed.mockClear();
    operations.find(named(0), undefined);
    expect(parsed).toHaveBeenCalledOnce(); // It was forgotten.
  });

  it('that are asked for once makes candidates forgotten, not operations', async () => {
    const { operations } = prepared({ compileAfter: 1 });
    operations.find(QUERY, undefined);
    for (let i = 0; i < 1_000; i += 1) {
      operations.find(named(i), undefined);
    }
    operations.find(QUERY, undefined); // Counts as the first time again.
    await immediate();
    expect(operations.find(QUERY, undefined)).toBeUndefined();
    await immediate();
    expect(operations.find(QUERY, undefined)).toMatchObject({ name: 'Hot' });
  });
});
