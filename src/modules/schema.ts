// Builds the schema from modules, and checks that it can be served.

import { type GraphQLSchema, lexicographicSortSchema, printSchema, validateSchema } from 'graphql';
import { dependentCallsOf } from '../graphql/declared-calls.ts';
import { describeScopes, elementsOf, findScopeProblem, type ModuleOf, scopesOfField } from '../graphql/scopes.ts';
import { memoize, memoizeByObject } from '../lib/memoize.ts';
import { unknownName } from '../lib/words.ts';
import type { DeclaredEndpoint } from '../upstream/endpoint.ts';
import { CONTRACT } from '../upstream/endpoints.ts';
import { assertModule, clash, defineAll, defineModule, type GatewayModule, ModuleError } from './module.ts';
import {
  createSchemaAccess,
  findUnknownDirectives,
  printSubgraph,
  type SchemaSettings,
  toSubgraph,
} from './toolkit/federation.ts';
import { wrapResolvers, wrapTypeResolvers } from './toolkit/resolvers.ts';
import { feeds } from './types/feed.ts';
import { messages } from './types/message.ts';
import { notificationGroups } from './types/notification-group.ts';
import { scalars } from './types/scalars.ts';
import { stats } from './types/stats.ts';
import { subscribers } from './types/subscriber.ts';
import { workflows } from './types/workflow.ts';

const DESCRIPTION = `Workflows, notification groups, subscribers, feeds, messages and statistics of a notification service.

**Authentication.** Send the header \`Authorization\`: \`ApiKey <key>\` with an API key of the service, or \`Bearer <token>\` from an app in a browser. A token needs the scopes that types and fields name here. An API key needs none.

**Errors.** A failure of a mutation that your app can act on is a member of its result union: select \`... on MutationError { code message }\`. Any other failure is in \`errors\`, where \`extensions.code\` is stable and \`extensions.retryable\` tells whether to send the request again.

**Null.** A record that does not exist is null. A field whose call to the service failed is null too, and has an entry in \`errors\`.

**Ids** are those of the service. A field \`id\` is unique over the records of all types, so normalized caches can use it as the key. Other fields are not: the \`templateId\` of a template can equal the \`id\` of its step.

[Guides and error codes](https://github.com/notigraph/notigraph/tree/main/docs)`;

const roots = defineModule('roots', ({ builder }) => {
  builder.queryType({ description: 'Reads records. The fields of a query run in parallel.' });
  builder.mutationType({
    description:
      'Changes records. The fields of a mutation run one after another. If one is null, `extensions.outcome` of its entry in `errors` tells whether the change was applied.',
  });
});

/** Maximum undeclared calls to remember, so that each is reported only once. */
const MAX_PROBLEMS = 1_000;

/** The graph of the contract: one module per noun. */
const BUILT_IN: readonly GatewayModule[] = [
  roots,
  scalars,
  feeds,
  messages,
  notificationGroups,
  stats,
  subscribers,
  workflows,
];

const NO_SUBGRAPH: SchemaSettings = { federation: false, introspection: true };

/**
 * Returns the schema of the built-in modules and others. All gateways that add nothing to it share one, which takes 15 ms to build.
 *
 * @param settings by default, those of a gateway that is no subgraph
 * @param modules modules of the user. @default none
 * @param report if there are modules, called once for each call of a field that explanations don't list. @default calls are not checked
 * @throws {ModuleError} if one of them can't be part of the schema
 */
export function createSchema(
  settings: SchemaSettings = NO_SUBGRAPH,
  modules: readonly GatewayModule[] = [],
  report?: (problem: string) => void,
): GraphQLSchema {
  return modules.length === 0 && settings.federation === false
    ? builtInSchema(BUILT_IN)
    : buildWrapped(settings, modules, report);
}

const builtInSchema = memoizeByObject(() => buildWrapped(NO_SUBGRAPH, []));

function buildWrapped(settings: SchemaSettings, modules: readonly GatewayModule[], report?: (problem: string) => void) {
  const { schema, moduleOf } = buildSchema(modules);
  schema.description = DESCRIPTION;
  describeScopes(schema);
  const served = settings.federation === false ? schema : toSubgraph(schema, createSchemaAccess(settings));
  const hasForeign = modules.some(({ isShipped }) => !isShipped);
  const reportOnce = modules.length > 0 && report ? memoize(report, MAX_PROBLEMS) : undefined;
  wrapResolvers(served, moduleOf, { hasForeign, report: reportOnce });
  if (hasForeign) {
    wrapTypeResolvers(served);
  }
  return served;
}

function buildSchema(modules: readonly GatewayModule[]): { schema: GraphQLSchema; moduleOf: ModuleOf } {
  modules.forEach(assertModule);
  assertNames(modules);
  try {
    const { builder, endpoints, moduleOf } = defineAll([...BUILT_IN, ...modules]);
    assertEndpoints(endpoints);
    assertEmpties(endpoints);
    const schema = builder.toSchema(); // Throws if names are used twice, or types are missing.
    const problem = modules.length === 0 ? undefined : findProblem(schema, moduleOf);
    if (problem !== undefined) {
      throw new ModuleError(problem);
    }
    schema.extensions = { ...schema.extensions, endpoints: [...CONTRACT, ...endpoints], moduleOf };
    return { schema, moduleOf };
  } catch (error) {
    const last = modules.at(-1);
    const message = error instanceof ModuleError ? error.message : String(error);
    if (last === undefined || message.includes('the module ')) {
      throw error;
    }
    buildSchema(modules.slice(0, -1)); // Throws if the reason is one of these.
    throw new ModuleError(`the module ${last.name} fails: ${message}`, { cause: error });
  }
}

/** Throws a `ModuleError` if two modules have the same name. */
function assertNames(modules: readonly GatewayModule[]): void {
  const names = [...BUILT_IN, ...modules].map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  if (repeated !== undefined) {
    throw new ModuleError(`there are two modules with the name ${repeated}`);
  }
}

/** Throws a `ModuleError` if an endpoint is declared twice. The cache, for example, must know all rules of an endpoint. Shipped modules share theirs. */
function assertEndpoints(own: readonly DeclaredEndpoint[]): void {
  const formOf = ({ method, route }: DeclaredEndpoint) => `${method} ${route.replace(/\{\w+\}/g, '{}')}`;
  const known = new Map(CONTRACT.map((each) => [formOf(each), each]));
  for (const endpoint of own) {
    const { method, route } = endpoint;
    const first = known.get(formOf(endpoint));
    if (first !== undefined && !(first.isShipped && endpoint.isShipped)) {
      throw clash(`the endpoint ${method} ${route}`, first, endpoint, 'use the fields that call it');
    }
    known.set(formOf(endpoint), endpoint);
  }
}

/** Throws a `ModuleError` if a write empties a kind of reads that doesn't exist. */
function assertEmpties(own: readonly DeclaredEndpoint[]): void {
  const reads = [...CONTRACT, ...own].flatMap(({ cached }) => cached ?? []);
  const kinds = [...new Set(reads.map(({ kind }) => kind))];
  for (const { method, route, module, empties } of own) {
    const unknown = empties?.find((kind) => !kinds.includes(kind));
    if (unknown !== undefined) {
      const read = reads.find(({ resource }) => resource === unknown);
      const problem =
        read === undefined
          ? unknownName(unknown, kinds, 'kind of cached reads')
          : `unknown kind of cached reads "${unknown}" (did you mean "${read.kind}"?)`;
      throw new ModuleError(`${method} ${route} of the module ${module} empties the ${problem}`);
    }
  }
}

/** Returns why a schema can't be served: GraphQL doesn't allow a type, or a scope or a maximum of calls is wrong; undefined if it can. */
function findProblem(schema: GraphQLSchema, moduleOf: ModuleOf): string | undefined {
  const invalid = validateSchema(schema).map(({ message }) => message); // Otherwise every operation would fail.
  const [problem] = elementsOf(schema).flatMap(({ path, part }) => [
    ...dependentCallsOf(part.extensions).flatMap(({ options: { max = 1 } }) =>
      typeof max === 'function' || (typeof max === 'number' && max >= 0)
        ? []
        : `${path} declares calls with the max ${String(max)}; use a number from 0, or a function`,
    ),
    ...findUnknownDirectives(part).map(
      (directive) =>
        `${path} has the directive ${directive}; use shareable: {}, inaccessible: {}, tag: { name: '…' } or override: { from: '…' }`,
    ),
  ]);
  return invalid.length > 0
    ? `the schema is invalid: ${invalid.join(' ')}`
    : (findScopeProblem(schema, moduleOf) ?? problem);
}

export const endpointsOf = ({ extensions }: GraphQLSchema): readonly DeclaredEndpoint[] =>
  extensions.endpoints as readonly DeclaredEndpoint[]; // Set by `buildSchema`.

/** Returns the module that adds a type, such as `Topic`, or a field, such as `Query.topics`. */
export const ownerOf = ({ extensions }: GraphQLSchema, path: string): string | undefined =>
  [path, path.replace(/\..*/, '')].map(extensions.moduleOf as ModuleOf).find(Boolean); // Set by `buildSchema`.

/** Returns the fields of `Query` and `Mutation` that don't declare how many calls they make, such as `Query.layouts`. Those without a scope make none. */
export const findUndeclared = (schema: GraphQLSchema): string[] =>
  [schema.getMutationType(), schema.getQueryType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).flatMap(({ name, extensions }) => {
      const isSilent = type != null && extensions.calls === undefined && scopesOfField(schema, type, name).length > 0;
      return isSilent ? `${type.name}.${name}` : [];
    }),
  );

/** @param isSubgraph whether it is the one that a router composes, with the directives of federation. @default false */
export const printSdl = (schema: GraphQLSchema, isSubgraph = false): string =>
  isSubgraph ? printSubgraph(schema) : `${printSchema(lexicographicSortSchema(schema))}\n`;
