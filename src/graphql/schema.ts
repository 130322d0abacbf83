import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './scalars.ts';
import { describeScopes } from './describe-scopes.ts';
import './types/index.gen.ts';

const DESCRIPTION = `Workflows, notification groups, subscribers, feeds, messages and statistics of a notification service.

**Authentication.** Send the header \`Authorization\`: \`ApiKey <key>\` with an API key of the service, or \`Bearer <token>\` from an app in a browser. A token needs the scopes that types and fields name here. An API key needs none.

**Errors.** A failure of a mutation that your app can act on is a member of its result union: select \`... on MutationError { code message }\`. Any other failure is in \`errors\`, where \`extensions.code\` is stable and \`extensions.retryable\` tells whether to send the request again.

**Null.** A record that does not exist is null. A field whose call to the service failed is null too, and has an entry in \`errors\`.

**Ids** are those of the service. An id belongs to one record of one type, so normalized caches can use it as the key.

[Guides and error codes](https://github.com/notigraph/notigraph/tree/main/docs)`;

builder.queryType({ description: 'Reads records. The fields of a query run in parallel.' });
builder.mutationType({
  description:
    'Changes records. The fields of a mutation run one after another. If one is null, `extensions.outcome` of its entry in `errors` tells whether the change was applied.',
});

/** Builds the schema from everything that the imported files added to the builder. */
export function createSchema(): GraphQLSchema {
  const schema = builder.toSchema();
  schema.description = DESCRIPTION;
  describeScopes(schema);
  return schema;
}
