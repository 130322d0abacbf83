// Wraps the resolvers of a schema: `WRAPPERS` is the list of what happens around each of them.

import {
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import type { GatewayContext } from '../../graphql/context.ts';
import { type DependentCalls, declaresCall, dependentCallsOf } from '../../graphql/declared-calls.ts';
import { type FieldContext, ownWrites, runWith } from '../../graphql/loaders.ts';
import { adderOf, type ModuleOf, scopesOfField } from '../../graphql/scopes.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { FieldWrites } from '../../upstream/calls.ts';
import { checkCalls } from './check-calls.ts';
import { afterWrite } from './mutation-failures.ts';

type Resolve = GraphQLFieldResolver<unknown, GatewayContext>;

/** Field whose resolver is wrapped. */
interface WrappedField {
  /** Such as `Query.workflow`. */
  readonly name: string;
  readonly isRoot: boolean;
  readonly isMutation: boolean;
  /** Whether a module adds it to the type of another one, without a scope: every token that reads the type reads the field. */
  readonly isUnscoped: boolean;
  /** Whether it is a root field that may make no call, and whose data needs a scope. */
  readonly isSilent: boolean;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly declared: readonly DependentCalls[];
  /** Whether users have modules. Fields of this package need no limit of their writes, because they wait for them. */
  readonly hasForeign: boolean;
  /** Called for each call that explanations don't list; undefined if calls are not checked. */
  readonly report: ((problem: string) => void) | undefined;
}

/** Returns a resolver around another one, or the same one if a field needs nothing. */
type Wrap = (field: WrappedField, resolve: Resolve) => Resolve;

/** Checks that depend on the modules of a schema. */
type Checks = Pick<WrappedField, 'hasForeign' | 'report'>;

/** From the outermost to the innermost: the first one runs first. */
const WRAPPERS: readonly Wrap[] = [
  runAsMutation,
  explainCalls,
  countCalls,
  reportUndeclaredCalls,
  tryKeyFirst,
  limitWrites,
  refuseCalls,
];

/** Wraps the resolvers of a schema. */
export function wrapResolvers(schema: GraphQLSchema, moduleOf: ModuleOf, checks: Checks): void {
  const mutation = schema.getMutationType();
  const roots = new Set([schema.getQueryType(), mutation]);
  for (const type of ownTypesOf(schema).filter(isObjectType)) {
    const isRoot = roots.has(type);
    for (const field of Object.values(type.getFields())) {
      const { extensions, resolve } = field;
      if (resolve === undefined) {
        continue;
      }
      const hasScope = () => scopesOfField(schema, type, field.name).length > 0;
      const wrapped: WrappedField = {
        name: `${type.name}.${field.name}`,
        isRoot,
        isMutation: type === mutation,
        isUnscoped: adderOf(moduleOf, type, field.name) !== undefined && !hasScope(),
        isSilent: isRoot && !declaresCall(extensions) && hasScope(),
        extensions,
        declared: dependentCallsOf(extensions),
        ...checks,
      };
      field.resolve = WRAPPERS.reduceRight<Resolve>((inner, wrap) => wrap(wrapped, inner), resolve);
    }
  }
}

/** Lets a field of a mutation write, until it returns. */
function runAsMutation({ isMutation }: WrappedField, resolve: Resolve): Resolve {
  return !isMutation
    ? resolve
    : async (source, args, context, info) => {
        const writes = new FieldWrites();
        context.writes.ofField = writes;
        context.usage.field = info.fieldName;
        context.loaders.reset(); // The field before may have changed any record.
        try {
          return await resolve(source, args, context, info);
        } catch (error) {
          throw writes.applied > 0 ? afterWrite(error) : error;
        } finally {
          writes.end();
        }
      };
}

/** If the operation is only explained: records the calls of a field that makes some, and leaves out those that can do anything. */
function explainCalls({ isRoot, isMutation, extensions, declared }: WrappedField, resolve: Resolve): Resolve {
  if (!isRoot && declared.length === 0) {
    return resolve;
  }
  const isSkipped = isMutation && extensions.isExplained !== true;
  return (source, args, context, info) => {
    const { explainer } = context;
    if (explainer === undefined) {
      return resolve(source, args, context, info);
    }
    const run = () => resolve(source, args, context, info);
    return isSkipped ? explainer.skip(info) : explainer.run(info, args, context, run);
  };
}

/** Counts the calls of a root field, or of one with `calls`, if the request asks for it. */
function countCalls({ name, isRoot, extensions }: WrappedField, resolve: Resolve): Resolve {
  return !(isRoot || 'calls' in extensions)
    ? resolve
    : withOwn(resolve, (context) => context.fieldCalls?.contextOf(name, context.loaders));
}

/** Compares the calls of a field with those that it declares. Exposed members make none, and those of explained operations are recorded. */
function reportUndeclaredCalls(field: WrappedField, resolve: Resolve): Resolve {
  const { name, isRoot, isUnscoped, extensions, report } = field;
  if (report === undefined || isUnscoped || 'pothosExposedField' in extensions) {
    return resolve;
  }
  const declared = [...field.declared, ...dependentCallsOf({ dependentCalls: extensions.writes })];
  const runsOf = memoizeByObject((_context: GatewayContext) => ({ count: 0, made: new Map<object, Set<unknown>>() }));
  return withOwn(resolve, (context, args) =>
    context.explainer
      ? undefined
      : checkCalls(context, { name, isRoot, declared, args, runs: runsOf(context) }, report),
  );
}

/** Tries the caller's key before a root field that may make no call, because only the service knows its keys. */
function tryKeyFirst({ isSilent }: WrappedField, resolve: Resolve): Resolve {
  return !isSilent
    ? resolve
    : (source, args, context, info) => {
        const trial = context.tryKey();
        const start = () => resolve(source, args, context, info);
        return trial === undefined ? start() : trial.then(start);
      };
}

/** Sends the writes of a mutation's field only until it has ended, although its resolver can still run while the next field writes. */
function limitWrites({ isMutation, hasForeign }: WrappedField, resolve: Resolve): Resolve {
  return isMutation && hasForeign
    ? withOwn(resolve, (context) => context.writes.ofField && ownWrites(context, context.writes.ofField))
    : resolve;
}

/** Lets a field that requires no scope make no calls. */
function refuseCalls({ name, isUnscoped }: WrappedField, resolve: Resolve): Resolve {
  const denied = denyCalls(`${name} makes calls, but requires no scope of its own; declare one for it or its type.`);
  return isUnscoped ? withOwn(resolve, () => denied) : resolve;
}

/** Returns the client and loaders of a field; undefined: it has those of the operation. */
type OwnOf = (context: GatewayContext, args: Record<string, unknown>) => FieldContext | undefined;

function withOwn(resolve: Resolve, ownOf: OwnOf): Resolve {
  return (source, args, context, info) => {
    const own = ownOf(context, args);
    return own === undefined
      ? resolve(source, args, context, info)
      : runWith({ context, own }, resolve, source, args, context, info);
  };
}

/** Lets the functions that tell the types of values make no calls. */
export function wrapTypeResolvers(schema: GraphQLSchema): void {
  for (const type of ownTypesOf(schema)) {
    const name = isAbstractType(type) ? 'resolveType' : 'isTypeOf';
    const own = denyCalls(
      `${name} of ${type.name} makes calls, which explanations don't list; make them in the resolver of the field.`,
    );
    if (isAbstractType(type) && type.resolveType) {
      const { resolveType } = type;
      type.resolveType = (...args) => runWith({ context: args[1], own }, resolveType, ...args);
    } else if (isObjectType(type) && type.isTypeOf) {
      const { isTypeOf } = type;
      type.isTypeOf = (...args) => runWith({ context: args[1], own }, isTypeOf, ...args);
    }
  }
}

/** Returns the types that may be changed: all schemas of the process share those of introspection. */
const ownTypesOf = (schema: GraphQLSchema): GraphQLNamedType[] =>
  Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));

/** Returns the client and loaders of a function that may make no calls, because those that are not declared can't be found when the schema is built. */
function denyCalls(problem: string): FieldContext {
  const deny = (): never => {
    throw new Error(problem);
  };
  return { upstream: { read: deny, write: deny }, loaders: { load: deny, list: deny, reset: deny } };
}
