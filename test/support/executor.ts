// Creates the gateway's replacement for `execute` of graphql-js.

import { type ExecutionArgs, GraphQLSchema } from 'graphql';
import { PreparedDocuments } from '../../src/graphql/documents/prepared-documents.ts';
import { createExecutor, type ExecuteResult } from '../../src/graphql/executor/execute.ts';
import { FIXED_LIMITS, type Limits } from '../../src/graphql/executor/result-limits.ts';
import { createExecuteDocument } from '../../src/http/engine.ts';

export function executorWith(
  limits: Partial<Limits> & Pick<Limits, 'maxResponseBytes'>,
): (args: ExecutionArgs) => ExecuteResult {
  const execute = createExecutor({ ...FIXED_LIMITS, hideSuggestions: false, ...limits });
  return createExecuteDocument(new PreparedDocuments(new GraphQLSchema({})), ({ plans }, inputs) =>
    execute(plans, inputs),
  );
}
