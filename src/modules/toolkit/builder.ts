// Creates the schema builder with the gateway's context, scalars and defaults.

import SchemaBuilder from '@pothos/core';
import type { GatewayContext } from '../../graphql/context.ts';

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

export type GraphTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

export type Builder = PothosSchemaTypes.SchemaBuilder<GraphTypes>;

export const createBuilder = (): Builder => new SchemaBuilder<Types>({ defaultFieldNullability: false });
