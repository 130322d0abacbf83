// Makes the schema a federation subgraph, with `_entities` and `_service`.

import { hash, timingSafeEqual } from 'node:crypto';
import {
  assertObjectType,
  assertScalarType,
  type ConstDirectiveNode,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isObjectType,
  isTypeDefinitionNode,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import type { GatewayContext } from '../../graphql/context.ts';
import { DependentCalls, declaresCall, dependentCallsOf } from '../../graphql/declared-calls.ts';
import { type Entity, entityOf } from '../../graphql/loaders.ts';
import { badUserInput } from '../../graphql/values.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { listAny } from '../../lib/words.ts';
import { readSecret } from '../../settings/kinds.ts';
import type { GatewaySettings } from '../../settings/settings.ts';

/** Returns the schema with the fields that a federation router uses: `_entities` and `_service`. Its other types are the same objects. */
export function toSubgraph(schema: GraphQLSchema, maySeeSchema: MaySeeSchema): GraphQLSchema {
  const { query, types, ...config } = schema.toConfig();
  const queryConfig = assertObjectType(query).toConfig();
  const subgraphQuery = new GraphQLObjectType({
    ...queryConfig,
    fields: {
      ...queryConfig.fields,
      _entities: createEntitiesField(schema, maySeeSchema),
      _service: createServiceField(printSubgraph(schema), maySeeSchema),
    },
  });
  return new GraphQLSchema({ ...config, query: subgraphQuery, types: types.filter((type) => type !== query) });
}

function createEntitiesField(
  schema: GraphQLSchema,
  maySeeSchema: MaySeeSchema,
): GraphQLFieldConfig<unknown, GatewayContext, { representations: readonly Representation[] }> {
  const types = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType =>
      isObjectType(type) && [...(entityOf(type)?.values() ?? [])].some((load) => load !== null),
  );
  const resolveReference = createResolveReference(types, maySeeSchema);
  const union = new GraphQLUnionType({
    name: '_Entity',
    description: 'A record that other subgraphs can refer to.',
    extensions: { scopedByRequest: true }, // A request names the types of the values, so it requires only their scopes.
    types,
  });
  const representation = new GraphQLScalarType({
    ...assertScalarType(schema.getType('JSONObject')).toConfig(), // The limits of JSON values apply to representations.
    name: '_Any',
    description: 'A reference to a record: its `__typename` and a key.',
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(union)),
    description: `Returns the records that other subgraphs refer to, in the order of the references, with null for each that does not exist. For federation routers.\n\nREST: \`GET /v1/workflows/{workflowIdOrIdentifier}\` per distinct key of a workflow. \`GET /v1/notification-groups/{id}\` for one group, or a single \`GET /v1/notification-groups\` for several. One call per distinct key of a record of other types.\n\nToken scope: the scope of each record's type.`,
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(representation))),
        description: 'The references. Each counts as a field of the operation.',
      },
    },
    extensions: { dependentCalls: types.flatMap(callsOfEntity) },
    resolve: (_root, { representations }, context) => representations.map((each) => resolveReference(each, context)),
  };
}

/** Returns the calls that an entity declares, for each of its representations. */
function callsOfEntity({ name, extensions }: GraphQLObjectType): DependentCalls[] {
  const argsOf = ({ representations }: { representations?: unknown }) =>
    [representations]
      .flat()
      .filter(isRecord)
      .filter(({ __typename }) => __typename === name);
  return dependentCallsOf(extensions).map(({ options }) => new DependentCalls(options, argsOf));
}

function createServiceField(sdl: string, maySeeSchema: MaySeeSchema): GraphQLFieldConfig<unknown, GatewayContext> {
  const service = new GraphQLObjectType({
    name: '_Service',
    description: 'This subgraph.',
    fields: {
      sdl: { type: new GraphQLNonNull(GraphQLString), description: 'The schema with the keys of its entities.' },
    },
  });
  return {
    type: new GraphQLNonNull(service),
    description: 'Describes this subgraph for the composition of the federated graph.',
    resolve(_root, _args, context) {
      if (!maySeeSchema(context)) {
        throw new GraphQLError(
          'The schema is available only with `introspection`, or with the secret of the router in `Router-Authorization`.',
          { extensions: { code: 'FORBIDDEN' } },
        );
      }
      return { sdl };
    },
  };
}

/** The oldest version with everything that is used here, so that every router of version 2 composes it. */
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@inaccessible", "@key", "@override", "@shareable", "@tag"])';

/** Extension of a type that other subgraphs can have too. */
export const SHAREABLE = { directives: { shareable: {} } } as const;

/** Matches the directives that `extensions.directives` can have. */
const DIRECTIVE = /^@(?:shareable|inaccessible|(?:tag\(name|override\(from): "(?:[^"\\]|\\.)*"\))$/;

type Declared = Parameters<typeof entityOf>[0] & { extensions: { directives?: unknown } };

/** Prints the schema that a router composes: the same types, sorted, with the keys of the entities and with `extensions.directives`. */
export function printSubgraph(schema: GraphQLSchema): string {
  let type: GraphQLNamedType | undefined;
  const document = visit(parse(printSchema(lexicographicSortSchema(schema))), {
    enter(node) {
      type = isTypeDefinitionNode(node) ? schema.getType(node.name.value) : type;
    },
    leave(node, _key, _parent, { length: depth }) {
      // Types have the depth 2, their fields 4, and arguments 6.
      if (depth <= 4 && node.kind.endsWith('Definition') && 'name' in node && 'directives' in node) {
        const field = type && 'getFields' in type ? type.getFields()[node.name?.value ?? ''] : undefined;
        return { ...node, directives: [...(node.directives ?? []), ...directivesOf(depth < 4 ? type : field)] };
      }
    },
  });
  return `${LINK}\n\n${print(document)}\n`;
}

function directivesOf(part: Declared = { extensions: {} }): readonly ConstDirectiveNode[] {
  const keys = [...(entityOf(part) ?? [])].map(
    ([field, load]) => `@key(fields: "${field}"${load === null ? ', resolvable: false' : ''})`,
  );
  const { definitions } = parse(`scalar A ${[...keys, ...declaredBy(part)].join(' ')}`);
  return definitions.flatMap((each) => (isTypeDefinitionNode(each) ? (each.directives ?? []) : []));
}

const declaredBy = ({ extensions }: Declared): string[] =>
  Object.entries(Object(extensions.directives)).flatMap(([name, declared]) =>
    [declared].flat().map((args) => {
      const entries = Object.entries(isRecord(args) ? args : { '': args });
      return `@${name}${entries.map(([key, value]) => `(${key}: ${JSON.stringify(value)})`).join('')}`;
    }),
  );

/** Returns the declared directives of a type or field that a router wouldn't know, such as a misspelled `@inaccessible`. */
export const findUnknownDirectives = (part: Declared): string[] =>
  declaredBy(part).filter((directive) => !DIRECTIVE.test(directive));

/** Reference of another subgraph to a record: the name of its type and the value of a key. */
type Representation = Readonly<Record<string, unknown>>;

/**
 * Creates the function that loads the record, or null, that a representation refers to. It calls loaders immediately, so that they batch the
 * references of a list.
 *
 * @param maySeeSchema whether errors tell a caller the names of types and keys
 */
function createResolveReference(types: readonly GraphQLObjectType[], maySeeSchema: MaySeeSchema) {
  const entities = new Map(
    types.flatMap((type) => {
      const entity = entityOf(type);
      // Cached, so that many references to one record share what is cached for it.
      const withType = memoizeByObject((record: object) => ({ ...record, __typename: type.name }));
      return entity === undefined ? [] : [[type.name, { type, entity, withType }] as const];
    }),
  );

  /** Creates the error of an invalid representation. Names the valid choices. */
  const invalid = (problem: string, choices: Iterable<string>, context: GatewayContext) =>
    badUserInput(maySeeSchema(context) ? `${problem}: ${listAny(choices)}.` : `${problem}.`);

  return async (representation: Representation, context: GatewayContext): Promise<object | null> => {
    const { __typename: typeName } = representation;
    const known = typeof typeName === 'string' ? entities.get(typeName) : undefined;
    if (known === undefined) {
      throw invalid('A representation must have the __typename of a resolvable entity', entities.keys(), context);
    }
    const found = findKey(known.entity, representation);
    if (found === undefined) {
      throw invalid(`A representation of ${typeName} must have a key as a string`, known.entity.keys(), context);
    }
    if (!declaresCall(known.type.extensions)) {
      await context.tryKey();
    }
    const record = await found.load(found.key, context);
    return record && known.withType(record);
  };
}

/** Returns the first key of an entity that a representation has, and the function that loads the record by it. */
function findKey(entity: Entity, representation: Representation) {
  for (const [field, load] of entity) {
    const value = representation[field];
    if (load !== null && (typeof value === 'string' || Number.isSafeInteger(value))) {
      return { key: String(value), load };
    }
  }
  return undefined;
}

export type SchemaSettings = Pick<GatewaySettings, 'federation' | 'introspection'>;

type MaySeeSchema = (context: Pick<GatewayContext, 'request'>) => boolean;

/**
 * Creates the function that lets a caller read the schema if clients can introspect it, or with the secret of the router.
 *
 * @throws {SecretError} if the file of the secret can't be used
 */
export function createSchemaAccess({ introspection, federation }: SchemaSettings): MaySeeSchema {
  const source = typeof federation === 'object' ? federation.routerSecret : undefined;
  const secret = source && readSecret('routerSecret', source);
  if (introspection || secret === undefined) {
    return () => introspection;
  }
  // Compares hashes, so that the time reveals neither the secret nor its length.
  const digest = (value: string) => hash('sha256', value, 'buffer');
  return ({ request }) => timingSafeEqual(digest(request.headers.get('router-authorization') ?? ''), digest(secret));
}
