import SchemaBuilder from '@pothos/core';
import type { GatewayContext } from './context.ts';
import { EXACT_ID } from './exact-id.ts';

/** The schema under construction: context, scalars and defaults. What it contains is in `types/`, one noun a file. */
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
