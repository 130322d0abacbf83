import type { ExecutionArgs, GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { checkPlugin, type HostPlugin } from '../graphql/check-plugin.ts';
import type { GatewayContext } from '../graphql/context.ts';
import { createDocumentCaches } from '../graphql/documents/document-cache.ts';
import { createRepresentationLimit } from '../graphql/documents/representation-limit.ts';
import { createCountDeprecatedUsage, useDeprecatedElements } from '../graphql/documents/use-deprecated-usage.ts';
import { useDocumentLimits } from '../graphql/documents/use-document-limits.ts';
import { createExecutor, type Execute } from '../graphql/executor/execute.ts';
import { useExecutor } from '../graphql/executor/use-executor.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { DeprecatedCounts } from '../telemetry/deprecated-counts.ts';
import { type Engine, useOperationRules } from './prepare.ts';

/** Creates the engine, which parses, validates and executes documents. The pipeline handles HTTP. */
export function createEngine(
  schema: GraphQLSchema,
  settings: GatewaySettings,
  deprecatedCounts: DeprecatedCounts,
  plugins: readonly HostPlugin[],
): Engine {
  const execute = createExecute(settings, deprecatedCounts);
  const caches = createDocumentCaches();
  const yoga = createYoga<object, GatewayContext>({
    schema,
    plugins: [...ownPlugins(settings, execute, deprecatedCounts), ...plugins.map(checkPlugin)],
    parserAndValidationCache: caches,
    maskedErrors: false, // createClientErrors masks.
    logging: false,
  });
  const direct = { schema, documents: caches.documentCache, execute: async (args: ExecutionArgs) => execute(args) };
  return { yoga, direct: plugins.length > 0 ? undefined : direct };
}

/** Returns the gateway's own plugins, in the order in which they run. */
const ownPlugins = (settings: GatewaySettings, execute: Execute, deprecatedCounts: DeprecatedCounts) => [
  useExecutor(execute),
  useDocumentLimits(settings),
  useDeprecatedElements(deprecatedCounts),
  useOperationRules(), // After the limits: they tell more about a document that breaks both.
];

/** Creates the function that executes every operation. Rules about an operation with its variables belong here; those about documents are plugins. */
function createExecute(settings: GatewaySettings, deprecatedCounts: DeprecatedCounts): Execute {
  const limitRepresentations = createRepresentationLimit(settings);
  const countDeprecatedUsage = createCountDeprecatedUsage(deprecatedCounts);
  const execute = createExecutor(settings);
  return (args) => {
    limitRepresentations?.(args);
    countDeprecatedUsage(args);
    return execute(args);
  };
}
