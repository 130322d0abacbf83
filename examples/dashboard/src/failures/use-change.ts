import { useState } from 'react';
import { type AnyVariables, type OperationContext, type TypedDocumentNode, useMutation } from 'urql';
import { explainError } from './explain-error.ts';
import { explainProblem, isProblem } from './explain-problem.ts';
import { createFailure, type Failure, UNCERTAIN } from './failure.ts';

/** A mutation and the outcome of its last run. */
export interface Change<Variables, Data> {
  /**
   * Runs it.
   * @param onSuccess gets the data of a run that succeeded
   * @returns the failure, or undefined if it succeeded
   */
  run(
    variables: Variables,
    context?: Partial<OperationContext>,
    onSuccess?: (data: Data) => void,
  ): Promise<Failure | undefined>;
  isRunning: boolean;
  failure: Failure | undefined;
  dismiss(): void;
}

/** @param answerOf takes the answer, a member of the result union, out of the data */
export function useChange<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  answerOf: (data: Data) => { __typename: string } | null | undefined,
): Change<Variables, Data> {
  const [{ fetching }, execute] = useMutation(document);
  const [failure, setFailure] = useState<Failure>();

  const run: Change<Variables, Data>['run'] = async (variables, context, onSuccess) => {
    setFailure(undefined);
    const { data, error } = await execute(variables, context);
    const answer = data && answerOf(data);
    const outcome = error
      ? explainError(error, 'write')
      : !answer
        ? createFailure('There was no response.', { details: [UNCERTAIN], isUncertain: true })
        : isProblem(answer)
          ? explainProblem(answer)
          : undefined;
    setFailure(outcome);
    if (data && outcome === undefined) {
      onSuccess?.(data);
    }
    return outcome;
  };

  return { run, isRunning: fetching, failure, dismiss: () => setFailure(undefined) };
}
