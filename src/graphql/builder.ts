import SchemaBuilder, { BasePlugin, type PothosTypeConfig, type SchemaTypes } from '@pothos/core';
import { GraphQLError, GraphQLID, GraphQLScalarType } from 'graphql';
import type { GatewayContext } from './context.ts';

/** GraphQL's ID, except that it rejects integers that a JavaScript number can't hold exactly. Parsing has already changed them. */
const ExactID = new GraphQLScalarType<string>({
  ...GraphQLID.toConfig(),
  serialize: (value) => GraphQLID.serialize(requireExact(value)),
  parseValue: (value) => GraphQLID.parseValue(requireExact(value)),
});

function requireExact(value: unknown): unknown {
  // guard: test/graphql/exact-numbers.test.ts
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new GraphQLError('ID cannot represent this number exactly; send it as a string.');
  }
  return value;
}

/** Makes a schema use `ExactID`. Pothos always uses the scalar of graphql-js for the name ID. */
class ExactIdPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onTypeConfig(config: PothosTypeConfig): PothosTypeConfig {
    if (config.kind !== 'Scalar' && config.kind !== 'Enum') {
      this.buildCache.types.set('ID', ExactID); // Scalars are built first; later types look them up by name.
    }
    return config;
  }
}

/** Name of the plugin, for the builder's `plugins`. */
const EXACT_ID = 'exactId';

SchemaBuilder.registerPlugin(EXACT_ID, ExactIdPlugin);

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      exactId: ExactIdPlugin<Types>;
    }
  }
}

interface Types {
  Context: GatewayContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    LocalDate: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: Record<string, unknown>; Output: Record<string, unknown> };
  };
}

/** Context type, scalars and defaults of the schema. */
export type GraphTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** Schema builder. */
export type Builder = PothosSchemaTypes.SchemaBuilder<GraphTypes>;

/** Creates the builder of one schema. */
export const createBuilder = (): Builder =>
  new SchemaBuilder<Types>({ defaultFieldNullability: false, plugins: [EXACT_ID] });
