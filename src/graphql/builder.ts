import SchemaBuilder from '@pothos/core';
import type { GatewayContext } from './context.ts';
import { EXACT_ID } from './exact-id.ts';

/** Schema builder with the context type, scalars and defaults. The files in `types/` add one noun each. */
export const builder = new SchemaBuilder<{
  Context: GatewayContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    LocalDate: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: Record<string, unknown>; Output: Record<string, unknown> };
  };
}>({ defaultFieldNullability: false, plugins: [EXACT_ID] });
