// Creates the gateway's replacement for `execute` of graphql-js.

import { type ExecutionArgs, GraphQLSchema } from 'graphql';
import { PreparedDocuments } from '../../src/documents/prepared-documents.ts';
import { createExecutor, type ExecuteResult } from '../../src/executor/execute.ts';
import { FIXED_LIMITS, type Limits } from '../../src/executor/result-limits.ts';
import { createExecuteDocument } from '../../src/http/engine.ts';

export function executorWith(
  limits: Partial<Limits> & Pick<Limits, 'maxResponseBytes'>,
): (args: ExecutionArgs) => ExecuteResult {
  const execute = createExecutor({ ...FIXED_LIMITS, hideSuggestions: false, ...limits });
  return createExecuteDocument(new PreparedDocuments(new GraphQLSchema({})), ({ plans }, inputs) =>
    execute(plans, inputs),
  );
}
