import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './scalars.ts';
import './types/index.gen.ts';

builder.queryType({ description: 'Reads. A field that costs an upstream call is null when that call fails.' });
builder.mutationType({
  description:
    'Writes, carried out one after the other. What a client can act on is in the result union; everything else is in errors[].',
});

/** Builds the schema from all that the files above have added to the builder. */
export const createSchema = (): GraphQLSchema => builder.toSchema();
