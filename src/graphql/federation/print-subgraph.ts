import {
  type ConstDirectiveNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import { entityOf } from '../entity.ts';

/** The oldest version with everything that is used here, so that every router of version 2 composes it. */
const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])';

/** Prints the schema that a router composes: the same types, sorted, with the keys of the entities. */
export function printSubgraph(schema: GraphQLSchema): string {
  const document = visit(parse(printSchema(lexicographicSortSchema(schema))), {
    ObjectTypeDefinition(node) {
      const keys = keysOf(schema.getType(node.name.value));
      return keys.length === 0 ? undefined : { ...node, directives: [...(node.directives ?? []), ...keys] };
    },
  });
  return `${LINK}\n\n${print(document)}\n`;
}

/** Returns a directive `@key` for each key of a type. */
function keysOf(type: GraphQLNamedType | undefined): readonly ConstDirectiveNode[] {
  const entity = isObjectType(type) ? entityOf(type) : undefined;
  const directives = [...(entity?.keys ?? [])].map(([field, load]) =>
    load === undefined ? `@key(fields: "${field}", resolvable: false)` : `@key(fields: "${field}")`,
  );
  return parse(`scalar Keys ${directives.join(' ')}`).definitions.flatMap((definition) =>
    definition.kind === Kind.SCALAR_TYPE_DEFINITION ? (definition.directives ?? []) : [],
  );
}
