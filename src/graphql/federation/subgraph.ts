import {
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isObjectType,
  isScalarType,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { entityOf } from '../entity.ts';
import { printSubgraph } from './print-subgraph.ts';
import { createResolveReference, type Representation } from './resolve-reference.ts';
import type { MaySeeSchema } from './schema-access.ts';

/** Returns the schema with the fields that a federation router uses: `_entities` and `_service`. Its other types are the same objects. */
export function toSubgraph(schema: GraphQLSchema, maySeeSchema: MaySeeSchema): GraphQLSchema {
  const { query, types, ...config } = schema.toConfig();
  const queryConfig = query?.toConfig();
  if (query == null || queryConfig === undefined) {
    throw new TypeError('A subgraph needs a type Query.');
  }
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
    (type): type is GraphQLObjectType => isObjectType(type) && entityOf(type)?.isResolvable === true,
  );
  const resolveReference = createResolveReference(types, maySeeSchema);
  const union = new GraphQLUnionType({
    name: '_Entity',
    description: 'A record that other subgraphs can refer to.',
    types,
  });
  const jsonObject = schema.getType('JSONObject');
  if (!isScalarType(jsonObject)) {
    throw new TypeError('A subgraph needs the scalar JSONObject.');
  }
  const representation = new GraphQLScalarType({
    ...jsonObject.toConfig(), // The limits of JSON values apply to representations.
    name: '_Any',
    description: 'A reference to a record: its `__typename` and a key.',
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(union)),
    description:
      "Returns the records that other subgraphs refer to, in the order of the references, with null for each that does not exist. For federation routers.\n\nREST: `GET /v1/workflows/{workflowIdOrIdentifier}` per distinct key of a workflow. `GET /v1/notification-groups/{id}` for one group, or a single `GET /v1/notification-groups` for several.\n\nToken scope: the scope of each record's type.",
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(representation))),
        description: 'The references. Each counts as a field of the operation.',
      },
    },
    resolve: (_root, { representations }, context) => representations.map((each) => resolveReference(each, context)),
  };
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
