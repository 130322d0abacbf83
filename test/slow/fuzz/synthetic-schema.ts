// Schema with the GraphQL features that ours does not use. Its values depend only on a seed and the path of the field.

import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  responsePathAsArray,
} from 'graphql';
import { type Choices, createRandom } from '../../support/choices.ts';
import { type CorruptionOptions, corrupt } from './corruption.ts';
import type { Scalars } from './documents.ts';

const MOOD = { mood: 'good' };

const Mood = new GraphQLEnumType({
  name: 'Mood',
  values: { GOOD: { value: MOOD }, BAD: { value: 0 }, NONE: { value: null }, PLAIN: {} },
});

const Odd = new GraphQLScalarType({
  name: 'Odd',
  serialize(value) {
    if (value === 'throw') {
      throw new Error('Odd value.');
    }
    return value === 'null' ? null : value === 'undefined' ? undefined : { value: typeof value };
  },
  parseValue(value) {
    if (value === 'throw') {
      throw new Error('Odd input.');
    }
    return value === 'undefined' ? undefined : value;
  },
});

export const SYNTHETIC_SCALARS: Scalars = {
  Odd: [
    ['"odd"', '1', '[1, { a: "b" }]'],
    ['odd', 'throw', 'undefined', { a: [1] }],
  ],
};

const Filter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Filter',
  fields: () => ({
    text: { type: GraphQLString, defaultValue: 'all' },
    mood: { type: Mood, defaultValue: MOOD },
    required: { type: new GraphQLNonNull(GraphQLInt) },
    odd: { type: Odd },
    filters: { type: new GraphQLList(new GraphQLNonNull(Filter)) },
  }),
});

const args: GraphQLFieldConfigArgumentMap = {
  id: { type: GraphQLID },
  count: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 3 },
  flag: { type: GraphQLBoolean, defaultValue: false },
  mood: { type: Mood, defaultValue: MOOD },
  filter: { type: Filter, defaultValue: { text: 'default', required: 1 } },
  list: { type: new GraphQLList(new GraphQLNonNull(GraphQLInt)) },
  odd: { type: Odd },
};

const requiredArgs: GraphQLFieldConfigArgumentMap = {
  filter: { type: new GraphQLNonNull(Filter) },
  moods: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Mood))) },
};

const list = (type: GraphQLOutputType) => new GraphQLList(type);
const nonNull = (type: GraphQLOutputType & { ofType?: never }) => new GraphQLNonNull(type);

export interface SyntheticContext extends CorruptionOptions {
  log: string[];
}

const labelOf = (info: GraphQLResolveInfo): string => responsePathAsArray(info.path).join('/');

/** Uses rest parameters, as resolvers do that access `info` without naming it or depend on the number of arguments. */
function digest(...[source, given, context, info, ...rest]: [unknown, unknown, SyntheticContext, GraphQLResolveInfo]) {
  return JSON.stringify({
    given,
    rest,
    source: typeof source,
    seed: context.seed,
    fieldName: info.fieldName,
    path: responsePathAsArray(info.path),
    typenames: [info.path.typename, info.path.prev?.typename],
    returnType: String(info.returnType),
    parentType: String(info.parentType),
    variableValues: info.variableValues,
    operation: info.operation.name?.value,
    nodes: info.fieldNodes.length,
    fragments: Object.keys(info.fragments),
    rootValue: typeof info.rootValue,
    members: Object.keys({ ...info }).filter((name) => !name.startsWith('getA')), // Version 17 added two functions.
  });
}

const withDefault = (_source: unknown, given: unknown = 'no arguments', _context: unknown, info?: GraphQLResolveInfo) =>
  `${JSON.stringify(given)} ${info?.fieldName ?? 'no info'}`;

/** Changes its arguments, which must not affect the next call. */
function greedy(_source: unknown, given: Record<string, unknown>): string {
  const text = JSON.stringify(given);
  for (const value of Object.values(given)) {
    if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && value !== MOOD) {
      Object.assign(value, { touched: true });
    }
  }
  given.touched = true;
  return text;
}

function fieldsOf(): GraphQLFieldConfigMap<unknown, SyntheticContext> {
  const resolve = (_source: unknown, _args: unknown, context: SyntheticContext, info: GraphQLResolveInfo) =>
    valueFor(info.returnType, labelOf(info), context);
  const types = {
    int: GraphQLInt,
    float: GraphQLFloat,
    text: GraphQLString,
    id: GraphQLID,
    flag: GraphQLBoolean,
    mood: Mood,
    odd: Odd,
    thing: Thing,
    cat: Cat,
    strict: Strict,
    node: Node,
    named: Named,
    pet: Pet,
  };
  const variants: [string, (type: GraphQLOutputType & { ofType?: never }) => GraphQLOutputType][] = [
    ['', (type) => type],
    ['Required', (type) => nonNull(type)],
    ['s', (type) => list(type)],
    ['sRequired', (type) => list(nonNull(type))],
    ['Lists', (type) => new GraphQLNonNull(list(new GraphQLNonNull(list(nonNull(type)))))],
    ['Grid', (type) => list(list(type))],
  ];
  const typed = Object.entries(types).flatMap(([name, type]) =>
    variants.map(([suffix, wrap]) => [`${name}${suffix}`, { type: wrap(type), resolve }] as const),
  );
  return {
    ...Object.fromEntries(typed),
    digest: { type: GraphQLString, args, resolve: digest },
    digestRequired: { type: new GraphQLNonNull(GraphQLString), args: requiredArgs, resolve: digest },
    greedy: {
      type: GraphQLString,
      args: { list: { type: new GraphQLList(GraphQLInt) }, count: { type: GraphQLInt } },
      resolve: greedy,
    },
    withDefault: { type: GraphQLString, args, resolve: withDefault },
    plain: { type: GraphQLString },
    method: { type: GraphQLString, args },
    plainThing: { type: Thing },
  };
}

const named = { name: { type: GraphQLString } };
const Node = new GraphQLInterfaceType({
  name: 'Node',
  fields: { key: { type: GraphQLID } },
  resolveType: (value, context: SyntheticContext, info) =>
    chooseType(value, ['Thing', 'Cat', 'Strict'], labelOf(info), context),
});
const Named: GraphQLInterfaceType = new GraphQLInterfaceType({
  name: 'Named',
  interfaces: [Node],
  // Has no resolveType, so that `__typename` or the isTypeOf functions of the types are used.
  fields: { key: { type: GraphQLID }, ...named },
});

const Thing: GraphQLObjectType = new GraphQLObjectType({
  name: 'Thing',
  interfaces: [Node, Named],
  fields: () => ({ key: { type: GraphQLID }, ...named, ...fieldsOf() }),
});
const Cat: GraphQLObjectType = new GraphQLObjectType({
  name: 'Cat',
  interfaces: [Node, Named],
  fields: () => ({
    key: { type: GraphQLID },
    ...named,
    lives: { type: new GraphQLNonNull(GraphQLInt) },
    thing: { type: Thing },
  }),
  isTypeOf: (value, context: SyntheticContext, info) => isA('Cat', value, labelOf(info), context),
});
const Strict: GraphQLObjectType = new GraphQLObjectType({
  name: 'Strict',
  interfaces: [Node],
  fields: () => ({ key: { type: new GraphQLNonNull(GraphQLID) }, self: { type: new GraphQLNonNull(Strict) } }),
  isTypeOf: (value, context: SyntheticContext, info) => isA('Strict', value, labelOf(info), context),
});
const Pet = new GraphQLUnionType({
  name: 'Pet',
  types: [Cat, Strict, Thing],
  resolveType: (value, context: SyntheticContext, info) => chooseType(value, ['Cat', 'Strict'], labelOf(info), context),
});

function isA(name: string, value: unknown, label: string, context: SyntheticContext): boolean | Promise<boolean> {
  const random = createRandom(context.seed, `${label} is ${name}`);
  const is = Object(value).__typename === name || random.oneIn(12);
  const choice = random.pick(12);
  if (choice === 1) {
    throw new Error(`Cannot tell whether ${label} is a ${name}.`);
  }
  return context.isAsync && choice > 8
    ? Promise.resolve(context.time.later(`${label} is ${name}`, () => is)).then(Boolean)
    : is;
}

/** Returns a type name, or occasionally an invalid value, which both executors must report with the same error. */
function chooseType(value: unknown, names: [string, ...string[]], label: string, context: SyntheticContext) {
  const random = createRandom(context.seed, `${label} type`);
  const name = random.oneIn(10)
    ? random.of<unknown>([undefined, null, 'Unknown', 'Mood', 'Query', Thing, 1])
    : undefined;
  // Reflect.get returns `any`, because the types of GraphQL.js forbid these mistakes.
  const type = Reflect.get({ type: name ?? Object(value).__typename ?? random.of(names) }, 'type');
  return context.isAsync && random.oneIn(4) ? Promise.resolve(context.time.later(`${label} type`, () => type)) : type;
}

/** Returns a value of the type that is partly wrong, late or failing. */
function valueFor(type: GraphQLOutputType, label: string, context: SyntheticContext): unknown {
  return corrupt(goodValue(type, label, createRandom(context.seed, label)), label, context);
}

function goodValue(type: GraphQLOutputType, label: string, random: Choices): unknown {
  if (isNonNullType(type)) {
    return goodValue(type.ofType, label, random);
  }
  if (isListType(type)) {
    const items = Array.from({ length: random.pick(4) }, (_, index) =>
      goodValue(type.ofType, `${label}/${index}`, random),
    );
    return random.pick(8) === 7 ? asIterable(items, random) : items;
  }
  if (isLeafType(type)) {
    return leafOf(type.name, random);
  }
  const name = isObjectType(type) ? type.name : isAbstractType(type) ? random.of(['Thing', 'Cat', 'Strict']) : '';
  return objectOf(name, label, random);
}

const asIterable = (items: unknown[], random: Choices): unknown =>
  random.of<() => unknown>([
    () => new Set(items),
    () =>
      (function* () {
        yield* items;
      })(),
    () =>
      (async function* () {
        yield* items;
      })(),
    () => ({ length: items.length }),
    () => 'text',
  ])();

function leafOf(name: string, random: Choices): unknown {
  switch (name) {
    case 'Int':
      return random.of<unknown>([1, 0, -0, '7', true, 2 ** 31]);
    case 'Float':
      return random.of<unknown>([1.5, 0, '2.5', true, 'x']);
    case 'Boolean':
      return random.of<unknown>([true, false, 0, 1, 'yes']);
    case 'Mood':
      return random.of<unknown>([MOOD, 0, 'PLAIN', 'GOOD', {}]);
    case 'Odd':
      return random.of<unknown>(['odd', 1, 'throw', 'null', 'undefined', {}]);
    default:
      return random.of<unknown>(['text', '', 7, true, { toString: () => 'text' }, { valueOf: () => 8 }]);
  }
}

/** Creates an object for the default resolver, with values, methods and nested objects. */
function objectOf(name: string, label: string, random: Choices): unknown {
  const typename = random.oneIn(4) ? {} : { __typename: random.oneIn(12) ? 'Pet' : name };
  const object: Record<string, unknown> = {
    ...typename,
    key: `key of ${label}`,
    name: 'Name',
    lives: 9,
    plain: 'plain',
    method(this: unknown, ...[given, context, info]: [unknown, SyntheticContext, GraphQLResolveInfo]) {
      return `${JSON.stringify(given)} ${context.seed} ${info.fieldName} ${this === object}`;
    },
    plainThing: () => ({ __typename: 'Thing', plain: () => 'nested' }),
  };
  object.self = random.oneIn(3) ? null : { __typename: 'Strict', key: 'self' };
  return object;
}

const root = (name: string) =>
  new GraphQLObjectType({ name, fields: () => ({ key: { type: GraphQLID }, ...fieldsOf() }) });

export const syntheticSchema = new GraphQLSchema({
  query: root('Query'),
  mutation: root('Mutation'),
  subscription: root('Subscription'),
  types: [Thing, Cat, Strict],
});
