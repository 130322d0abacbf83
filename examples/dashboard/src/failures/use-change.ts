// Runs mutations, and gives components their outcome.

import { useRef, useState } from 'react';
import { type AnyVariables, type OperationContext, type TypedDocumentNode, useMutation } from 'urql';
import { explainError } from './explain-error.ts';
import { explainProblem, isProblem } from './explain-problem.ts';
import { createFailure, type Failure, UNCERTAIN } from './failure.ts';

/** A mutation and the outcome of its last run. */
export interface Change<Variables, Data> {
  /**
   * Runs it.
   * @param variables or a function that returns them for an idempotency key
   * @param onSuccess gets the data of a run that succeeded
   * @returns the failure, or undefined if it succeeded
   */
  run(
    variables: Variables | ((idempotencyKey: string) => Variables),
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
  const last = useRef<{ input: string; key: string }>(undefined);

  /** Returns a new key, or the last one if the input is the same and its outcome is unknown: the service applies a repeated request only once. */
  function keyFor(input: string): string {
    if (last.current?.input !== input) {
      last.current = { input, key: crypto.randomUUID() };
    }
    return last.current.key;
  }

  const run: Change<Variables, Data>['run'] = async (variables, context, onSuccess) => {
    setFailure(undefined);
    const complete = typeof variables === 'function' ? variables(keyFor(JSON.stringify(variables('')))) : variables;
    const { data, error } = await execute(complete, context);
    const answer = data && answerOf(data);
    const outcome = error
      ? explainError(error, 'write')
      : !answer
        ? createFailure('There was no response.', { details: [UNCERTAIN], isUncertain: true })
        : isProblem(answer)
          ? explainProblem(answer)
          : undefined;
    if (!outcome?.isUncertain) {
      last.current = undefined;
    }
    setFailure(outcome);
    if (data && outcome === undefined) {
      onSuccess?.(data);
    }
    return outcome;
  };

  return { run, isRunning: fetching, failure, dismiss: () => setFailure(undefined) };
}
