// Lets modules add types, fields and endpoints to the schema.

import { type FieldMap, InterfaceRef, ObjectRef } from '@pothos/core';
import { declareCalls } from '../graphql/declared-calls.ts';
import { Entity, type LoadByKey, type Loader } from '../graphql/loaders.ts';
import { type ModuleOf, requireScopes } from '../graphql/scopes.ts';
import { badResponse, badUserInput, loadBySentId } from '../graphql/values.ts';
import { isRecord } from '../lib/is-record.ts';
import { isPromise } from '../lib/promises.ts';
import { type DeclaredEndpoint, endpoint } from '../upstream/endpoint.ts';
import { nullIfAbsent } from '../upstream/errors.ts';
import { assertRange } from './toolkit/arguments.ts';
import { type Builder, createBuilder, type GraphTypes } from './toolkit/builder.ts';
import { defineMutationErrors, type MutationErrors } from './toolkit/mutation-errors.ts';
import { ADDS_ONLY, createMutations, type Mutations } from './toolkit/mutations.ts';
import { SUBJECT, subjectOf } from './toolkit/subject.ts';

/** Functions for modules that need no schema. */
const HELPERS = {
  /** Declares the scope that a field requires, or all fields that return a type. */
  requireScopes,
  /** Declares how many calls a field makes, if it isn't exactly one. */
  declareCalls,
  /** Extension of a mutation's field that changes or deletes nothing that exists, for AI agents. */
  ADDS_ONLY,
  /** Creates the extension `entity` of a type to which other subgraphs can refer. */
  entity: (keys: Readonly<Record<string, LoadByKey | null>>) => ({ entity: new Entity(Object.entries(keys)) }),
  /** Loads a record by an id that the service sent. */
  loadBySentId,
  /** Returns the result of a read, and null also if the service reports with 400 that the record is missing. */
  nullIfAbsent,
  /** Returns the id of the person whose records a field reads or changes: with a token only its subject. Throws FORBIDDEN otherwise. */
  subjectOf,
  /** Description of an argument with that id. */
  SUBJECT,
  /** Throws BAD_USER_INPUT unless a number is in a range. */
  assertRange,
  /** Creates the error of an argument that is rejected before any call. */
  badUserInput,
  /** Creates the error of a response that violates the contract: a clause that follows "The notification service". */
  badResponse,
} as const;

/** Part of the graph, such as a noun with its types and the fields of `Query` and `Mutation` that return them. */
export interface GatewayModule<Types = unknown> {
  /** Name, unique among the modules of a gateway. */
  readonly name: string;
  /** Adds the module's types and fields to a schema. Returns the types that other modules refer to. */
  readonly define: (toolkit: Toolkit) => Types;
  /** Whether it is a module of this package, for the service's own endpoints. @default false */
  readonly isShipped?: boolean;
}

type Helpers = typeof HELPERS;

/** Tools with which a module defines itself. */
export interface Toolkit extends Mutations, Helpers {
  readonly builder: Builder;
  /** Types of failures, for result unions that `mutation` does not declare. */
  readonly errors: MutationErrors;
  /** Declares an endpoint of the service. */
  readonly endpoint: typeof endpoint;
  /** Declares a scalar, to be used as a type. `Input` is what `parseValue` returns, `Output` what resolvers return. */
  readonly scalar: <Input, Output = Input>(
    name: string,
    options: PothosSchemaTypes.ScalarTypeOptions<GraphTypes, Input, Output>,
  ) => PothosSchemaTypes.ScalarRef<GraphTypes, Output, Input>;
  /** Declares how records are loaded by a key. `ctx.loaders.load(loader, key)` then batches the reads of an operation. */
  readonly loader: <Row>(loader: Loader<Row>) => Loader<Row>;
  /** Returns the types of another module, which becomes part of the schema. */
  readonly use: <Types>(module: GatewayModule<Types>) => Types;
}

/**
 * Declares a part of the graph.
 *
 * @example defineModule('feeds', ({ builder }) => { const Feed = builder.objectRef<FeedBody>('Feed').implement({ … }); return { Feed }; })
 */
export const defineModule = <Types>(name: string, define: (toolkit: Toolkit) => Types): GatewayModule<Types> => ({
  name,
  define,
});

/** Declares a module of this package. */
export const defineShipped: typeof defineModule = (name, define) => ({ name, define, isShipped: true });

/** Error of a module that can't be part of the schema. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
}

export const isModule = (value: unknown): value is GatewayModule =>
  isRecord(value) && typeof value.name === 'string' && typeof value.define === 'function';

/** Throws a `ModuleError` for what is no module: its name, as in a configuration file, or all that its file exports. */
export function assertModule(value: unknown): void {
  if (!isModule(value)) {
    const word = String(value)
      .replace(/\.[cm]?[jt]s$/, '')
      .split(/\W/)
      .at(-1);
    throw new ModuleError(
      typeof value === 'string'
        ? `${value} is the name of a module; import it: import ${word} from '${value}'`
        : "a module is missing, or isn't the default export of its file, as in: import events from 'notigraph/modules/events'",
    );
  }
}

/** Module of a part of the schema: its name, if the part isn't built in, and whether it is one of this package. */
interface Owner {
  readonly module?: string | undefined;
  readonly isShipped?: boolean;
}

/** Creates the error of a part that two modules declare, of which a shipped one keeps it. */
export function clash(part: string, { module: first }: Owner, second: Owner, remedy: string): ModuleError {
  const [own, other] = first && second.isShipped ? [first, second.module] : [second.module, first];
  const owner = other ? `the module ${other} has too` : 'is built in';
  return new ModuleError(`the module ${own} declares ${part}, which ${owner}; remove it from ${own}, and ${remedy}`);
}

/**
 * Defines modules with a builder of their own. Each is defined once, also if several others use it. Modules are known by their names, because another
 * copy of this package may have declared them.
 *
 * @returns also the endpoints that modules declared themselves, and the function that finds the module of a type or field once the schema is built
 * @throws {ModuleError} that names the module whose definition fails
 */
export function defineAll(modules: readonly GatewayModule[]) {
  const builder = createBuilder();
  const { configStore } = builder;
  const errors = defineMutationErrors(builder);
  const mutations = createMutations(builder, errors);
  const endpoints: DeclaredEndpoint[] = [];
  const loaders = new Map<string, string>(); // Modules by loaders: explanations and reports tell records apart by these names.
  const types = new Map<string, unknown>();
  const owners = new Map<string, string>();
  const shipped = new Set<string>();
  let current = ''; // Module that is being defined.

  /** Notes the module that adds a type or field. @throws {ModuleError} if another one has it */
  function own(path: string, owner: string): void {
    const first = owners.get(path) ?? owner;
    if (first !== owner) {
      const part = `the ${path.includes('.') ? 'field' : 'type'} ${path}`;
      const second = { module: owner, isShipped: shipped.has(owner) };
      throw clash(part, { module: first }, second, 'use that one, or choose another name');
    }
    owners.set(path, first);
  }

  /** Notes the module that adds fields to a type, when they are read. */
  function owned(typeName: () => string, fields: () => FieldMap): () => FieldMap {
    const owner = current;
    return () => {
      const added = fields();
      for (const field of Object.keys(added)) {
        own(`${typeName()}.${field}`, owner);
      }
      return added;
    };
  }

  const addFields = configStore.addFields.bind(configStore);
  configStore.addFields = (type, fields) =>
    addFields(
      type,
      owned(() => configStore.getTypeConfig(type).name, fields),
    );
  const addTypeRef = configStore.addTypeRef.bind(configStore);
  configStore.addTypeRef = (ref) => {
    const owner = current;
    ref.onConfig(({ name }) => own(name, owner));
    addTypeRef(ref);
    if (ref instanceof ObjectRef || ref instanceof InterfaceRef) {
      const add = ref.addFields.bind(ref);
      ref.addFields = (fields) => add(owned(() => ref.name, fields)); // Those after its own.
    }
  };

  const use = <Types>(module: GatewayModule<Types>): Types => {
    assertModule(module);
    const { name } = module;
    if (!types.has(name)) {
      types.set(name, undefined); // Modules that use each other get no types.
      const user = current;
      current = name;
      types.set(name, define(module));
      current = user;
    }
    return types.get(name) as Types; // What this module's `define` returned.
  };

  const declareLoader: Toolkit['loader'] = (loader) => {
    const { name, get, many } = loader;
    const write = [get, many?.endpoint].find((read) => read !== undefined && !Object.is(read.method, 'GET')); // From JavaScript.
    const forms = many?.argsOf === undefined ? ['list', 'value'] : ['list', 'page', 'value'];
    const problem =
      get === undefined && many?.argsOf === undefined
        ? `the loader ${name} needs get, or many with argsOf`
        : get !== undefined && get.params.length !== 1
          ? `the path of ${get.method} ${get.route}, with which the loader ${name} reads a record, must have exactly one parameter`
          : write !== undefined
            ? `the loader ${name} reads with ${write.method} ${write.route}, which is a write`
            : many !== undefined && !forms.includes(many.endpoint.expect)
              ? `the loader ${name} reads several with GET ${many.endpoint.route}, which must have expect: 'list', or 'page' with argsOf`
              : loaders.has(name) && `there are two loaders named ${name}, in ${loaders.get(name)} and ${current}`;
    if (problem) {
      throw new ModuleError(problem);
    }
    loaders.set(name, current);
    return loader;
  };

  function define({ name, define: run, isShipped = false }: GatewayModule): unknown {
    if (isShipped) {
      shipped.add(name);
    }
    const declare = (...args: Parameters<typeof endpoint>) => {
      const declared = { ...endpoint(...args), module: name, isShipped };
      endpoints.push(declared);
      return declared;
    };
    try {
      const types = run({
        ...HELPERS,
        ...mutations,
        builder,
        errors,
        endpoint: declare as typeof endpoint, // Its overloads are those of `endpoint`.
        scalar: builder.scalarType.bind(builder) as unknown as Toolkit['scalar'], // Its types know the names of built-in scalars only.
        loader: declareLoader,
        use,
      });
      if (isPromise(types)) {
        throw new TypeError('its define must not be async');
      }
      return types;
    } catch (error) {
      throw error instanceof ModuleError
        ? error
        : new ModuleError(`the module ${name} fails: ${String(error)}`, { cause: error });
    }
  }

  modules.forEach(use);
  const moduleOf: ModuleOf = (path) => owners.get(path);
  return { builder, endpoints, moduleOf };
}
