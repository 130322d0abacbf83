import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { SampleEnvironment } from './records/definition.ts';
import type { OperationHandler, Resource } from './resource.ts';

/**
 * Collects the handlers of all resources by `operationId`.
 *
 * @throws {Error} unless every operation of the OpenAPI document has exactly one handler
 */
export function createOperations(
  resources: readonly Resource[],
  operationIds: readonly string[],
  database: SandboxDatabase,
  clock: Clock,
  samples: readonly SampleEnvironment[],
): ReadonlyMap<string, OperationHandler> {
  const operations = new Map<string, OperationHandler>();
  for (const resource of resources) {
    for (const [operationId, handler] of Object.entries(resource.createHandlers(database, clock, samples))) {
      if (!operationIds.includes(operationId) || operations.has(operationId)) {
        const problem = operations.has(operationId) ? 'has two handlers' : 'is not in the OpenAPI document';
        throw new Error(`The operation ${operationId} ${problem}.`);
      }
      operations.set(operationId, handler);
    }
  }
  const missing = operationIds.filter((operationId) => !operations.has(operationId));
  if (missing.length > 0) {
    throw new Error(`No file in src/sandbox/resources has a handler for ${missing.join(', ')}.`);
  }
  return operations;
}
