import type { DocumentNode } from 'graphql';
import * as documents from '../../src/client/documents.gen.ts';

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
