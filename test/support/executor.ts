// Creates the gateway's replacement for `execute` of graphql-js.

import { type ExecutionArgs, GraphQLSchema } from 'graphql';
import { createExecuteDocument } from '../../src/documents/engine.ts';
import { PreparedDocuments } from '../../src/documents/prepared-documents.ts';
import { createExecutor, type ExecuteResult } from '../../src/executor/execute.ts';
import type { Limits } from '../../src/executor/execution/result-limits.ts';

export function executorWith(
  limits: Partial<Limits> & Pick<Limits, 'maxResponseBytes'>,
): (args: ExecutionArgs) => ExecuteResult {
  const execute = createExecutor({ hideSuggestions: false, ...limits });
  return createExecuteDocument(new PreparedDocuments(new GraphQLSchema({})), ({ plans }, inputs) =>
    execute(plans, inputs),
  );
}
