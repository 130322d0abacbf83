import { type GraphQLSchema, getNamedType, isObjectType, lexicographicSortSchema, printSchema } from 'graphql';
import type { Settings } from '../settings/settings.ts';
import type { GatewayContext } from './context.ts';
import { createSchemaAccess, toSubgraph } from './federation.ts';
import { defineAll, defineModule, type GatewayModule } from './module.ts';
import { scalars } from './scalars.ts';
import { feeds } from './types/feed.ts';
import { messages } from './types/message.ts';
import { notificationGroups } from './types/notification-group.ts';
import { stats } from './types/stats.ts';
import { subscribers } from './types/subscriber.ts';
import { workflows } from './types/workflow.ts';
import { workflowStatus } from './types/workflow-status.ts';

const DESCRIPTION = `Workflows, notification groups, subscribers, feeds, messages and statistics of a notification service.

**Authentication.** Send the header \`Authorization\`: \`ApiKey <key>\` with an API key of the service, or \`Bearer <token>\` from an app in a browser. A token needs the scopes that types and fields name here. An API key needs none.

**Errors.** A failure of a mutation that your app can act on is a member of its result union: select \`... on MutationError { code message }\`. Any other failure is in \`errors\`, where \`extensions.code\` is stable and \`extensions.retryable\` tells whether to send the request again.

**Null.** A record that does not exist is null. A field whose call to the service failed is null too, and has an entry in \`errors\`.

**Ids** are those of the service. An id belongs to one record of one type, so normalized caches can use it as the key.

[Guides and error codes](https://github.com/notigraph/notigraph/tree/main/docs)`;

const roots = defineModule('roots', ({ builder }) => {
  builder.queryType({ description: 'Reads records. The fields of a query run in parallel.' });
  builder.mutationType({
    description:
      'Changes records. The fields of a mutation run one after another. If one is null, `extensions.outcome` of its entry in `errors` tells whether the change was applied.',
  });
});

/** The graph: one module per noun. */
const MODULES: readonly GatewayModule[] = [
  roots,
  scalars,
  feeds,
  messages,
  notificationGroups,
  stats,
  subscribers,
  workflows,
  workflowStatus,
];

/**
 * Builds the schema of all modules.
 *
 * @param settings by default, those of a gateway that is no subgraph
 */
export function createSchema(
  settings: Pick<Settings, 'federation' | 'introspection'> = { federation: false, introspection: true },
): GraphQLSchema {
  const schema = defineAll(MODULES).toSchema();
  schema.description = DESCRIPTION;
  describeScopes(schema);
  const served = settings.federation === false ? schema : toSubgraph(schema, createSchemaAccess(settings));
  watchFields(served);
  return served;
}

/** Prints a schema, sorted. */
export const printSdl = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/**
 * Lets root fields and fields with `calls` record or count their own calls, if the request asks for it. Fields of mutations, which run one after
 * another, note their names for the audit log.
 */
function watchFields(schema: GraphQLSchema): void {
  const mutation = schema.getMutationType();
  const roots = new Set([schema.getQueryType(), mutation]);
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    const isRoot = roots.has(type);
    for (const field of Object.values(type.getFields())) {
      const { resolve, extensions } = field;
      if (resolve === undefined || !(isRoot || 'calls' in extensions)) {
        continue;
      }
      const name = `${type.name}.${field.name}`;
      field.resolve = (source, args, context: GatewayContext, info) => {
        const { explainer, fieldCalls, loaders, usage } = context;
        if (type === mutation) {
          usage.field = info.fieldName;
        }
        if (explainer !== undefined && isRoot) {
          return explainer.run(context, info, args, (fieldContext) => resolve(source, args, fieldContext, info));
        }
        const fieldContext =
          fieldCalls === undefined ? context : { ...context, ...fieldCalls.contextOf(name, loaders) };
        return resolve(source, args, fieldContext, info);
      };
    }
  }
}

interface Described {
  description?: string | null | undefined;
}

const scopeOf = ({ extensions }: { extensions: { scope?: unknown } }): unknown => extensions.scope;

/** Adds the scope to the description of every type and field that requires one. */
export function describeScopes(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    addScope(type, scopeOf(type));
    for (const field of Object.values(type.getFields())) {
      addScope(field, scopeOf(field) ?? scopeOf(getNamedType(field.type)));
    }
  }
}

function addScope(part: Described, scope: unknown): void {
  if (typeof scope === 'string') {
    part.description = `${part.description ?? ''}\n\nToken scope: \`${scope}\`.`;
  }
}
