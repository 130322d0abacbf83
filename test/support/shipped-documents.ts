// Lists the shipped modules, operations and documents.

import type { DocumentNode } from 'graphql';
import { loadModules } from '../../packages/cli/src/config/load-modules.ts';
import * as documents from '../../packages/client/src/documents.gen.ts';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';

/** The shipped modules. */
export const shippedModules = await loadModules({ modules: [...SHIPPED_MODULES] });

/** The schema with the shipped modules. */
export const shippedSchema = createSchema(undefined, shippedModules);

/** Operations whose examples use what others created, or delete what others use, in an order in which they succeed. */
const LAST = [
  'AddSubscribersToTopic',
  'Topic',
  'RenameTopic',
  'RemoveSubscribersFromTopic',
  'DeleteTopic',
  'DeleteSubscriber',
];

/** All shipped operations, also those of modules, in an order in which the examples succeed. */
export const shippedOperations = loadOperations(shippedSchema).toSorted(
  (a, b) => LAST.indexOf(a.name) - LAST.indexOf(b.name),
);

/** Document without the types of its operation, for tests that run all of them. */
export type AnyDocument = DocumentNode & { __meta__: { hash: string; text: string } };

export const isMutation = ({ definitions: [node] }: DocumentNode): boolean =>
  node?.kind === 'OperationDefinition' && node.operation === 'mutation';

/** Returns the typed document of a shipped operation. */
export function documentOf(name: string): AnyDocument {
  const found = Object.entries(documents).find(([key]) => key === `${name}Document`)?.[1];
  if (found === undefined) {
    throw new Error(`There is no document of ${name}.`);
  }
  return found;
}
