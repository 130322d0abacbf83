import { type ExecutionArgs, GraphQLSchema } from 'graphql';
import { PreparedDocuments } from '../../src/graphql/documents/prepared-documents.ts';
import { createExecutor, type ExecuteResult } from '../../src/graphql/executor/execute.ts';
import type { Limits } from '../../src/graphql/executor/result-limits.ts';
import { createExecuteDocument } from '../../src/http/engine.ts';

/** Creates the gateway's replacement for `execute` of graphql-js. */
export function executorWith(limits: Limits): (args: ExecutionArgs) => ExecuteResult {
  const execute = createExecutor(limits);
  return createExecuteDocument(new PreparedDocuments(new GraphQLSchema({})), ({ plans }, inputs) =>
    execute(plans, inputs),
  );
}
