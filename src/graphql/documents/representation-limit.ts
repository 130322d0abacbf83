import { type ExecutionArgs, getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { Settings } from '../../settings/settings.ts';
import { createFieldCount } from './document-limits.ts';
import { findRepresentations, type ReadRepresentations } from './representations.ts';
import { limitExceeded } from './use-document-limits.ts';

/** Part of an operation that doesn't depend on variables. */
interface Measured {
  fields: number;
  read: ReadRepresentations;
}

/**
 * Creates the check that counts each representation of `_entities` as a field. They are in variables, so that the limits of documents don't
 * see them.
 *
 * @returns a function that throws DOCUMENT_LIMIT_EXCEEDED; undefined if no schema has `_entities`
 */
export function createRepresentationLimit({
  federation,
  maxFields,
}: Pick<Settings, 'federation' | 'maxFields'>): ((args: ExecutionArgs) => void) | undefined {
  if (federation === false) {
    return undefined;
  }
  const known = new WeakMap<OperationDefinitionNode, Measured | null>();
  return ({ document, operationName, variableValues }) => {
    const operation = getOperationAST(document, operationName);
    if (operation == null) {
      return;
    }
    let measured = known.get(operation);
    if (measured === undefined) {
      const read = findRepresentations(document, operation);
      measured = read === undefined ? null : { read, fields: createFieldCount(document)(operation) };
      known.set(operation, measured);
    }
    const found = measured?.read(variableValues ?? {}).reduce((sum, { length }) => sum + length, measured.fields) ?? 0;
    if (found > maxFields) {
      throw limitExceeded(`The operation has ${found} fields and representations; at most ${maxFields} are allowed.`);
    }
  };
}
