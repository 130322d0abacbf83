import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './scalars.ts';
import './types/index.gen.ts';

builder.queryType({ description: 'Queries. A field that calls the notification service is null if the call fails.' });
builder.mutationType({
  description:
    'Mutations, executed one after another. Failures that a client can act on are members of the result union; all others are in `errors`.',
});

/** Builds the schema from everything that the imported files added to the builder. */
export const createSchema = (): GraphQLSchema => builder.toSchema();
