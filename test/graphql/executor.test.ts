import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  parse,
  versionInfo,
} from 'graphql';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Limits } from '../../src/executor/execution/result-limits.ts';
import { coerceVariables, planVariables } from '../../src/executor/values/coerce-variables.ts';
import { executorWith } from '../support/executor.ts';
import { guards } from '../support/guards.ts';
import { DEFAULTS } from '../support/settings.ts';

guards('src/executor/values/complete-value.ts', 'sizeOf');

/** Whether the installed graphql-js words errors of values differently: since 17. Those of the executor don't depend on the version. */
const HAS_OWN_MESSAGES = versionInfo.major >= 17;

type Resolve = NonNullable<GraphQLFieldConfig<unknown, unknown>['resolve']>;

const list = (type: GraphQLOutputType) => new GraphQLList(type);

let serialized = 0;
const Counted = new GraphQLScalarType({
  name: 'Counted',
  serialize(value) {
    serialized += 1;
    return value;
  },
});

const Item: GraphQLObjectType = new GraphQLObjectType({
  name: 'Item',
  fields: () => ({
    id: { type: GraphQLID },
    number: { type: GraphQLInt },
    required: { type: new GraphQLNonNull(GraphQLInt) },
    counted: { type: Counted },
    items: { type: list(Item) },
    item: { type: Item },
  }),
});

const FIELDS = {
  text: { type: GraphQLString },
  other: { type: GraphQLString },
  number: { type: GraphQLInt },
  counted: { type: Counted },
  numbers: { type: list(GraphQLInt) },
  texts: { type: list(GraphQLString) },
  requiredNumbers: { type: list(new GraphQLNonNull(GraphQLInt)) },
  item: { type: Item },
  requiredItem: { type: new GraphQLNonNull(Item) },
  items: { type: list(Item) },
  withArgs: {
    type: GraphQLString,
    args: {
      id: { type: GraphQLID },
      count: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 1 },
      ids: { type: new GraphQLList(new GraphQLNonNull(GraphQLInt)) },
    },
  },
};

/** Builds a schema in which queries and mutations have the same fields. */
function schemaOf(resolvers: Partial<Record<keyof typeof FIELDS, Resolve>>): GraphQLSchema {
  const resolverOf = new Map<string, Resolve>(Object.entries(resolvers));
  const fields = () =>
    Object.fromEntries(
      Object.entries(FIELDS).map(([name, field]) => {
        const resolve = resolverOf.get(name);
        return [name, resolve === undefined ? field : { ...field, resolve }];
      }),
    );
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields }),
  });
}

const codesOf = ({ errors = [] }: ExecutionResult) => errors.map(({ extensions: { code } }) => code);

interface RunOptions extends Omit<Partial<ExecutionArgs>, 'document'> {
  limits?: Partial<Limits>;
}

const SCHEMA = schemaOf({});

/** Executes a document over root values, or over resolvers. */
function run(query: string, { limits, ...args }: RunOptions = {}): ExecutionResult | Promise<ExecutionResult> {
  return executorWith({ ...DEFAULTS, ...limits })({ schema: SCHEMA, document: parse(query), ...args });
}

function runSync(query: string, options: RunOptions = {}): ExecutionResult {
  const result = run(query, options);
  if (result instanceof Promise) {
    throw new Error('The result is a promise.');
  }
  return result;
}

const later = <T>(value: T, ms = 5): Promise<T> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });

const failLater = (ms: number, message = 'late'): Promise<never> =>
  later(undefined, ms).then(() => {
    throw new Error(message);
  });

/** Records the rejections that nothing handles, until the end of the test. */
function recordRejections(): readonly unknown[] {
  const rejections: unknown[] = [];
  const record = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', record);
  onTestFinished(() => void process.off('unhandledRejection', record));
  return rejections;
}

/** Returns the CPU time in milliseconds: the lowest of five runs, because other processes and garbage collection only add time. */
async function cpuOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 5; count += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const numbersFrom0 = (length: number) => Array.from({ length }, (_, index) => index);
const invalid = (length: number) => Array.from({ length }, () => 'no number');

describe('results', () => {
  it('are returned synchronously if no resolver is asynchronous', () => {
    expect(runSync('{ text item { id } }', { rootValue: { text: 'a', item: { id: 1 } } })).toEqual({
      data: { text: 'a', item: { id: '1' } },
    });
  });

  it('do not change after they were returned', async () => {
    const rejections = recordRejections();
    const rootValue = {
      item: {
        required: failLater(1, 'first'),
        number: failLater(20, 'second'),
        items: later([{ required: null }], 20),
      },
      requiredNumbers: [failLater(20, 'third'), 'no number'],
    };
    const result = await run('{ item { required number items { required } } requiredNumbers }', { rootValue });
    const text = JSON.stringify(result);
    await later(undefined, 60);
    expect(JSON.stringify(result)).toBe(text);
    expect(result.errors?.map(({ message }) => message).sort()).toEqual([
      'Int cannot represent non-integer value: "no number"',
      'first',
    ]);
    expect(rejections).toEqual([]);
  });

  it('without data do not change after they were returned', async () => {
    const calls: string[] = [];
    const schema = schemaOf({
      requiredItem: () => failLater(1, 'first'),
      number: () => failLater(10, 'second'),
      item: () => later({ id: () => calls.push('id') }, 10),
    });
    const result = await run('{ requiredItem { id } number item { id } }', { schema });
    await later(undefined, 30);
    expect(result).toMatchObject({ data: null, errors: [{ message: 'first' }] });
    expect(result.errors).toHaveLength(1);
    expect(calls).toEqual([]);
  });

  it('cause no unhandled rejections from abandoned lists', async () => {
    const rejections = recordRejections();
    const rejected = (length: number) => Array.from({ length }, () => Promise.reject(new Error('no')));
    const lists = [
      () => ['no number', ...rejected(3)],
      () => [...rejected(3), 'no number'],
      () => rejected(10_001),
      () => rejected(5_000),
    ];
    for (const createList of lists) {
      const rootValue = { requiredNumbers: createList(), text: later('a', 10) };
      expect(await run('{ requiredNumbers text }', { rootValue, limits: { valuesPerTurn: 1_000 } })).toMatchObject({
        data: { requiredNumbers: null, text: 'a' },
        errors: [{ message: expect.any(String) }],
      });
    }
    expect(rejections).toEqual([]);
  });

  it('come from fresh arguments for every resolver call, so that no resolver can change those of another', () => {
    const seen: unknown[] = [];
    const schema = schemaOf({
      withArgs: (_source, args) => {
        seen.push(JSON.stringify(args));
        args.ids?.push(9);
        args.count = 5;
        return 'done';
      },
    });
    const document = parse('{ a: withArgs(ids: [1, 2], count: 3) b: withArgs(id: "x") }');
    const executeFn = executorWith(DEFAULTS);
    executeFn({ schema, document });
    executeFn({ schema, document });
    expect(seen).toEqual([
      '{"count":3,"ids":[1,2]}',
      '{"id":"x","count":1}',
      '{"count":3,"ids":[1,2]}',
      '{"id":"x","count":1}',
    ]);
  });

  it('of fields without a resolver equal those of graphql-js, also with another default resolver', async () => {
    const rootValue = {
      get number(): number {
        throw new Error('broken');
      },
      texts: ['a', Promise.resolve('b'), 3],
      withArgs({ count }: { count: number }, _context: unknown, { fieldName }: { fieldName: string }) {
        return `${fieldName} ${count} ${this === rootValue}`;
      },
      item: Object.assign(Object.create({ id: 'inherited' }), { number: 2.5 }),
    };
    const args = { schema: SCHEMA, document: parse('{ text number texts withArgs item { id number } }'), rootValue };
    const expected = await execute(args);
    expect(expected).toMatchObject({ data: { withArgs: 'withArgs 1 true' } });
    expect(JSON.stringify(await executorWith(DEFAULTS)(args))).toBe(JSON.stringify(expected));
    const fieldResolver: Resolve = (_source, _args, _context, { fieldName }) => (fieldName === 'text' ? 'own' : null);
    expect(await executorWith(DEFAULTS)({ ...args, fieldResolver })).toEqual(await execute({ ...args, fieldResolver }));
  });
});

describe('the limit on errors', () => {
  it('stops execution after 100 errors and reports the limit', () => {
    const { data, errors = [] } = runSync('{ text numbers items { number } }', {
      rootValue: { text: 'kept', numbers: invalid(5_000), items: [{ number: 1 }] },
    });
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)?.toJSON()).toEqual({
      message:
        'The result has more than 100 errors; execution stopped and the remaining fields are null. Request fewer fields or records.',
      extensions: { code: 'RESULT_LIMIT_EXCEEDED' },
    });
    expect(data).toEqual({ text: 'kept', numbers: null, items: null });
    const within = runSync('{ numbers }', { rootValue: { numbers: invalid(100) } });
    expect(within.errors).toHaveLength(100);
    expect(within.data).toEqual({ numbers: invalid(100).map(() => null) });
  });

  it('waits for pending values and completes none of them', async () => {
    serialized = 0;
    const rootValue = { counted: later('late', 20), numbers: later(invalid(200), 1), text: failLater(30) };
    const { data, errors } = await run('{ counted numbers text }', { rootValue });
    expect(data).toEqual({ counted: null, numbers: null, text: null });
    expect(errors).toHaveLength(101);
    expect(serialized).toBe(0);
  });

  it('bounds the cost of 100,000 invalid values', async () => {
    const limits = { maxListItems: 100_000 };
    const leaves = { numbers: invalid(100_000) };
    const objects = { items: Array.from({ length: 100_000 }, () => ({ number: 'no number' })) };
    expect(await cpuOf(() => run('{ numbers }', { rootValue: leaves, limits }))).toBeLessThan(60);
    expect(await cpuOf(() => run('{ items { number } }', { rootValue: objects, limits }))).toBeLessThan(60);
  });

  it('avoids creating errors for rejections below a null', async () => {
    const rejected = Array.from({ length: 10_000 }, () => Promise.reject(new Error('no')));
    const options = { rootValue: { requiredNumbers: rejected }, limits: { valuesPerTurn: 1_000_000 } };
    const result = await run('{ requiredNumbers }', options);
    expect(result.errors).toHaveLength(1);
    // Building an error takes 10 µs, so that all would take 100 ms more. In a process with a large heap, the rest takes up to 57 ms instead of 15.
    expect(
      await cpuOf(() => Promise.resolve(run('{ requiredNumbers }', options)).then(() => later(undefined, 10))),
    ).toBeLessThan(90);
  });
});

describe('the limit on values', () => {
  it('counts fields and list items', () => {
    const rootValue = { numbers: [1, 2, 3], item: { id: 1 } };
    const codesWith = (maxResultValues: number) =>
      codesOf(runSync('{ numbers item { id } }', { rootValue, limits: { maxResultValues } }));
    expect([codesWith(6), codesWith(5)]).toEqual([[], ['RESULT_LIMIT_EXCEEDED']]);
  });

  it('keeps complete values, abandons the current list and calls no more resolvers', () => {
    const calls: string[] = [];
    const schema = schemaOf({
      other: () => {
        calls.push('other');
        return 'never';
      },
    });
    const rootValue = { text: 'kept', item: { id: 1, items: [{ id: 2 }, { id: 3 }] } };
    const { data, errors } = runSync('{ text item { id items { id } number } other }', {
      schema,
      rootValue: { ...rootValue },
      limits: { maxResultValues: 8 },
    });
    expect(data).toEqual({ text: 'kept', item: { id: '1', items: null, number: null }, other: null });
    expect(errors).toHaveLength(1);
    expect(calls).toEqual([]);
  });

  it('propagates null to the parent of a non-null field', () => {
    const { data, errors } = runSync('{ text item { id items { id } required } }', {
      rootValue: { text: 'kept', item: { id: 1, items: [{ id: 1 }, { id: 2 }], required: 1 } },
      limits: { maxResultValues: 6 },
    });
    expect(data).toEqual({ text: 'kept', item: null });
    expect(errors).toHaveLength(1);
  });
});

describe('the limit on the response', () => {
  const sizeOf = (rootValue: unknown, query: string): number =>
    JSON.stringify(runSync(query, { rootValue }).data).length;

  it.each([
    ['texts', '{ texts }', { texts: Array.from({ length: 50 }, () => 'x'.repeat(100)) }],
    ['numbers', '{ numbers }', { numbers: numbersFrom0(2_000).map((number) => number * 1_000_001) }],
    ['nulls', '{ numbers }', { numbers: Array.from({ length: 2_000 }, () => null) }],
    ['typenames', '{ items { __typename } }', { items: numbersFrom0(100) }],
    ['keys', '{ items { aVeryLongNameOfOneField: number } }', { items: numbersFrom0(100) }],
    [
      'JSON',
      '{ counted }',
      { counted: { list: numbersFrom0(500).map((id) => ({ id, name: 'name', deep: [[null, true]] })) } },
    ],
  ])('is reached close to the real size of %s', (_, query, rootValue) => {
    const size = sizeOf(rootValue, query);
    const stopsAt = (maxResponseBytes: number) =>
      codesOf(runSync(query, { rootValue, limits: { maxResponseBytes } })).includes('RESULT_LIMIT_EXCEEDED');
    expect(stopsAt(Math.floor(size * 0.9))).toBe(true);
    expect(stopsAt(size * 2)).toBe(false);
  });

  it('stops measuring a JSON value that is too large', () => {
    let reads = 0;
    const item = {
      get name() {
        reads += 1;
        return 'name';
      },
    };
    for (const counted of [
      Array(1_000).fill(item),
      Object.fromEntries(numbersFrom0(1_000).map((key) => [key, item])),
    ]) {
      reads = 0;
      runSync('{ counted }', { rootValue: { counted }, limits: { maxResponseBytes: 500 } });
      expect(reads).toBeLessThan(50);
    }
  });

  it('is not needed for a value that contains itself, which costs its field', () => {
    const cycle: Record<string, unknown> = { name: 'cycle' };
    Object.assign(cycle, { left: cycle, right: cycle });
    const { data, errors } = runSync('{ counted }', { rootValue: { counted: cycle } });
    expect(data).toEqual({ counted: null });
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('contains itself')]);
  });
});

describe('mutations that reach a limit', () => {
  /** Returns a schema whose resolvers record that they ran. */
  function schemaWith(applied: string[], numbers: unknown = invalid(200)): GraphQLSchema {
    const item = () => ({ id: 1, required: 1, items: numbersFrom0(20).map((id) => ({ id })) });
    const values = { text: () => 'applied', other: () => 'applied', numbers: () => numbers, requiredItem: item };
    const record =
      (name: string, resolve: Resolve): Resolve =>
      (...args) => {
        applied.push(name);
        return resolve(...args);
      };
    return schemaOf(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, record(name, value)])));
  }

  const outcomesOf = ({ errors = [] }: ExecutionResult) =>
    errors
      .filter(({ extensions: { outcome } }) => outcome !== undefined)
      .map(({ path, extensions: { outcome, code }, locations }) => [path, outcome, code, locations?.length]);

  it('report which fields were applied, which may have been, and which were not', () => {
    const applied: string[] = [];
    const result = runSync('mutation { text numbers a: other __typename b: other }', { schema: schemaWith(applied) });
    expect(applied).toEqual(['text', 'numbers']);
    expect(result.data).toEqual({ text: 'applied', numbers: null, a: null, __typename: 'Mutation', b: null });
    expect(outcomesOf(result)).toEqual([
      [['numbers'], 'UNKNOWN', 'RESULT_LIMIT_EXCEEDED', 1],
      [['a'], 'NOT_APPLIED', 'RESULT_LIMIT_EXCEEDED', 1],
      [['b'], 'NOT_APPLIED', 'RESULT_LIMIT_EXCEEDED', 1],
    ]);
    expect(result.errors?.at(-1)?.path).toBeUndefined();
    expect(result.errors).toHaveLength(104);
  });

  it('report every outcome even if a non-null field makes the data null', async () => {
    for (const wrap of [(value: unknown) => value, later]) {
      const applied: string[] = [];
      const schema = schemaWith(applied, wrap(invalid(200)));
      const query = 'mutation { text requiredItem { items { id } required } a: other b: requiredItem { id } }';
      const result = await run(query, { schema, limits: { maxResultValues: 10 } });
      expect(applied).toEqual(['text', 'requiredItem']);
      expect(result.data).toBeNull();
      expect(outcomesOf(result)).toEqual([
        [['requiredItem'], 'UNKNOWN', 'RESULT_LIMIT_EXCEEDED', 1],
        [['a'], 'NOT_APPLIED', 'RESULT_LIMIT_EXCEEDED', 1],
        [['b'], 'NOT_APPLIED', 'RESULT_LIMIT_EXCEEDED', 1],
      ]);
    }
  });

  it('report a failed write even after 100 errors', () => {
    const schema = schemaOf({
      numbers: () => invalid(100),
      text: () => {
        throw new GraphQLError('No.', { extensions: { code: 'FORBIDDEN', outcome: 'NOT_APPLIED' } });
      },
    });
    const result = runSync('mutation { numbers text }', { schema });
    expect(result.errors).toHaveLength(101);
    expect(result.errors?.at(-1)?.toJSON()).toMatchObject({ path: ['text'], extensions: { code: 'FORBIDDEN' } });
  });

  it('wait for a write in progress', async () => {
    const schema = schemaOf({
      item: () => later({ id: 1, items: later(numbersFrom0(20), 10) }),
      text: () => later('a'),
    });
    const result = await run('mutation { item { id items { id } } text }', { schema, limits: { maxResultValues: 10 } });
    expect(result.data).toEqual({ item: { id: '1', items: null }, text: null });
    expect(outcomesOf(result)).toEqual([[['text'], 'NOT_APPLIED', 'RESULT_LIMIT_EXCEEDED', 1]]);
  });
});

describe('lists from resolvers', () => {
  it('with more than 10,000 items fail the field before any item is completed', () => {
    serialized = 0;
    const result = runSync('{ texts numbers }', { rootValue: { texts: ['a'], numbers: numbersFrom0(12_345) } });
    expect(result.data).toEqual({ texts: ['a'], numbers: null });
    expect(result.errors?.map((error) => error.toJSON())).toEqual([
      {
        message: 'The notification service sent a list of 12345 items; at most 10000 are accepted.',
        path: ['numbers'],
        locations: [{ line: 1, column: 9 }],
        extensions: { code: 'UPSTREAM_BAD_RESPONSE' },
      },
    ]);
  });

  it('may be infinite iterables, which are read up to the limit', () => {
    let count = 0;
    const endless = (function* () {
      for (;;) {
        count += 1;
        yield count;
      }
    })();
    expect(runSync('{ numbers }', { rootValue: { numbers: endless } }).errors?.[0]?.message).toBe(
      'The notification service sent a list of more than 10000 items; at most 10000 are accepted.',
    );
    expect(count).toBe(10_001);
  });

  it('with many values yield to the event loop', async () => {
    const rootValue = { items: numbersFrom0(10_000).map((id) => ({ id, number: id })) };
    const fields = Array.from({ length: 20 }, (_, index) => `n${index}: number`).join(' ');
    const result = run(`{ items { id ${fields} } text }`, { rootValue });
    let turns = 0;
    const count = () => {
      turns += 1;
      ticker = setImmediate(count);
    };
    let ticker = setImmediate(count);
    const { data, errors } = await result;
    clearImmediate(ticker);
    expect(errors).toBeUndefined();
    expect(turns).toBeGreaterThan(10);
    expect(Reflect.get(Object(data), 'items')).toHaveLength(10_000);
    expect(Reflect.get(Object(data), 'items')[9_999]).toMatchObject({ id: '9999', n19: 9_999 });
  });
});

describe('plans', () => {
  const withConditions = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `v${index}`);
    const selections = names.map((name) => `${name}: text @include(if: $${name})`).join(' ');
    return { names, query: `query(${names.map((name) => `$${name}: Boolean!`).join(', ')}) { ${selections} text }` };
  };

  /** Counts how often selections are planned, because each plan reads the fields of the type once. */
  function countPlans(schema: GraphQLSchema): () => number {
    const query = schema.getQueryType();
    let count = 0;
    const getFields = query?.getFields.bind(query);
    Object.assign(query ?? {}, {
      getFields() {
        count += 1;
        return getFields?.();
      },
    });
    return () => count;
  }

  it('are cached for 16 combinations of condition values per document', () => {
    const schema = schemaOf({});
    const plans = countPlans(schema);
    const { names, query } = withConditions(6);
    const document = parse(query);
    const executeFn = executorWith(DEFAULTS);
    const executeSet = (set: number) =>
      executeFn({
        schema,
        document,
        rootValue: { text: 'a' },
        variableValues: Object.fromEntries(names.map((name, bit) => [name, ((set >> bit) & 1) === 1])),
      });
    const plansOf = (sets: readonly number[]) => {
      const before = plans();
      for (const set of sets) {
        expect(Object.keys(Object((executeSet(set) as ExecutionResult).data))).toHaveLength(
          1 + set.toString(2).replaceAll('0', '').length,
        );
      }
      return plans() - before;
    };
    expect(plansOf(numbersFrom0(16))).toBeGreaterThan(0);
    expect(plansOf(numbersFrom0(16))).toBe(0);
    expect(plansOf(numbersFrom0(64).slice(16))).toBeGreaterThan(0);
    expect(plansOf(numbersFrom0(64).slice(48))).toBe(0);
    expect(plansOf([0])).toBeGreaterThan(0);
  });

  it('visit a fragment once per selection set, however often it is spread', async () => {
    const depth = 40;
    const fragments = Array.from(
      { length: depth },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    const document = parse(`{ ...F0 } ${fragments.join(' ')} fragment F${depth} on Query { text }`);
    const args = { schema: schemaOf({}), document, rootValue: { text: 'a' } };
    expect(await executorWith(DEFAULTS)(args)).toEqual({ data: { text: 'a' } });
  });
});

describe('error locations', () => {
  const newlines = '\n'.repeat(32_000);

  it.each([
    [
      'arguments',
      `query($c: Int = 1) { ${newlines} items { ${'number '.repeat(3)} } ${Array.from({ length: 100 }, (_, i) => `a${i}: withArgs(count: $c)`).join(' ')} }`,
      { c: null },
    ],
    ['conditions', `query($c: Boolean = true) { ${newlines} items { number @include(if: $c) } }`, { c: null }],
  ])('of 100 errors of %s in 32 KB of newlines are cheap and correct', async (_, query, variableValues) => {
    const document = parse(query);
    const args = {
      schema: schemaOf({}),
      document,
      variableValues,
      rootValue: { items: invalid(100).map((number) => ({ number })) },
    };
    const executeFn = executorWith(DEFAULTS);
    const result = await executeFn(args);
    const expected = await execute(args);
    const comparable = ({ errors = [] }: ExecutionResult) =>
      errors.slice(0, 100).map((error) => ({ ...error.toJSON(), ...(HAS_OWN_MESSAGES && { message: '' }) }));
    expect(comparable(result)).toEqual(comparable(expected));
    // graphql-js takes 130 to 400 ms.
    expect(await cpuOf(() => executeFn(args))).toBeLessThan(45);
  });
});

describe('input', () => {
  const coerce = (document: DocumentNode, variables: Record<string, unknown>, options: Partial<Limits> = {}) => {
    const [operation] = document.definitions;
    if (operation?.kind !== 'OperationDefinition') {
      throw new Error('The document has no operation.');
    }
    return coerceVariables(planVariables(SCHEMA, operation), variables, {
      maxInputListItems: 1_000,
      hideSuggestions: false,
      ...options,
    });
  };
  const LIST = parse('query($ids: [Int!], $id: ID) { withArgs(ids: $ids, id: $id) }');

  it('with a list of more than 1,000 items is rejected, wherever the list is', () => {
    const long = numbersFrom0(1_001);
    for (const ids of [long, [[[long]]], { a: { b: [1, long] } }]) {
      const { errors } = coerce(LIST, { ids });
      expect(errors?.map((error) => error.toJSON())).toEqual([
        {
          message: 'Variable "$ids" has a list of more than 1000 items. Send at most 1000 in one list.',
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ]);
    }
    expect(coerce(LIST, { ids: numbersFrom0(1_000), unknown: long }).errors).toBeUndefined();
  });

  it('nested 100,000 levels deep does not overflow the stack', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(coerce(LIST, { ids: deep }).errors).toHaveLength(1);
  });

  it('of 131,000 invalid items costs little, with and without the limit on lists', async () => {
    const variables = { ids: Array.from({ length: 131_000 }, () => ({})) };
    expect(await cpuOf(() => coerce(LIST, variables))).toBeLessThan(30);
    const unlimited = { maxInputListItems: Number.POSITIVE_INFINITY };
    expect(await cpuOf(() => coerce(LIST, variables, unlimited))).toBeLessThan(60);
    expect(coerce(LIST, variables, unlimited).errors).toHaveLength(6);
  });

  it('with more than five errors gets five of them and a note that there are more, as from graphql-js', () => {
    for (const count of [4, 5, 6, 7]) {
      const variables = { ids: Array.from({ length: count }, () => 'x') };
      const messages = coerce(LIST, variables).errors?.map(({ message }) => message);
      expect(messages).toHaveLength(Math.min(count, 6));
      const args = { schema: SCHEMA, document: LIST, variableValues: variables, options: { maxCoercionErrors: 5 } };
      const expected = execute(args) as ExecutionResult;
      if (!HAS_OWN_MESSAGES) {
        expect(messages).toEqual(expected.errors?.map(({ message }) => message));
      }
    }
  });

  it('is quoted in messages of at most 300 characters, without splitting a character', () => {
    for (const padding of ['', 'x']) {
      const text = `${padding}${'😀'.repeat(1_000)}`;
      const { errors: [variable] = [] } = coerce(LIST, { ids: [text] });
      const { errors: [argument] = [] } = runSync(`{ withArgs(ids: ["${text}"]) }`);
      for (const error of [variable, argument]) {
        expect(error?.message.length).toBeGreaterThan(297);
        expect(error?.message.length).toBeLessThanOrEqual(300);
        expect(error?.message).toMatch(/…$/);
        expect(error?.message.isWellFormed()).toBe(true);
        expect(error?.locations).toHaveLength(1);
      }
    }
  });
});
