import SchemaBuilder, { BasePlugin, type PothosTypeConfig, type SchemaTypes } from '@pothos/core';
import { GraphQLError, GraphQLID, GraphQLScalarType } from 'graphql';

/** GraphQL's own ID, except that it refuses integers that a JavaScript number cannot hold exactly: they were changed when they were parsed. */
const ExactID = new GraphQLScalarType<string>({
  ...GraphQLID.toConfig(),
  serialize: (value) => GraphQLID.serialize(requireExact(value)),
  parseValue: (value) => GraphQLID.parseValue(requireExact(value)),
});

function requireExact(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new GraphQLError('ID cannot represent a number that would not arrive as it was sent; send it as a string.');
  }
  return value;
}

/** Makes a schema use `ExactID`: for the name ID, Pothos builds graphql-js's own scalar, whatever the builder was given. */
class ExactIdPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onTypeConfig(config: PothosTypeConfig): PothosTypeConfig {
    if (config.kind !== 'Scalar' && config.kind !== 'Enum') {
      this.buildCache.types.set('ID', ExactID); // Scalars are built first, and looked up by name in everything that follows.
    }
    return config;
  }
}

export const EXACT_ID = 'exactId';

SchemaBuilder.registerPlugin(EXACT_ID, ExactIdPlugin);

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      exactId: ExactIdPlugin<Types>;
    }
  }
}
