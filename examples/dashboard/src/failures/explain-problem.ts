// Explains to the user the failures that mutations return.

import type { ConflictReason } from '../documents.gen.ts';
import { createFailure, type Failure, UNCHANGED } from './failure.ts';

/** The failures that are members of a mutation's result. */
export type Problem =
  | { __typename: 'NotFoundError'; message: string; resource: string }
  | { __typename: 'ConflictError'; message: string; reason: ConflictReason }
  | {
      __typename: 'InvalidInputError';
      message: string;
      issues: readonly { path: readonly string[]; message: string }[];
    };

const PROBLEMS = ['NotFoundError', 'ConflictError', 'InvalidInputError'];

export const isProblem = (answer: { __typename: string }): answer is Problem => PROBLEMS.includes(answer.__typename);

const CONFLICTS: Readonly<Record<ConflictReason, { title: string; details?: readonly string[] }>> = {
  ALREADY_EXISTS: { title: 'This name already exists.', details: ['Choose another name.'] },
  IDEMPOTENCY_IN_PROGRESS: {
    title: 'The same request is still in progress.',
    details: ['Wait a second, then check whether it is done.'],
  },
  IDEMPOTENCY_KEY_REUSED: {
    title: 'This request was taken for an earlier one with different content.',
    details: [UNCHANGED, 'Send it again.'],
  },
  OTHER: { title: 'This conflicts with existing data.' },
};

/** Explains a failure in a mutation's result. */
export function explainProblem(problem: Problem): Failure {
  switch (problem.__typename) {
    case 'NotFoundError':
      return problem.resource === 'Transaction'
        ? createFailure('There are no messages to delete.', {
            details: ['Check the id and the channel.'],
            isGone: true,
          })
        : createFailure(`This ${nounOf(problem.resource)} no longer exists.`, {
            details: ['Somebody deleted it in the meantime.'],
            isGone: true,
          });
    case 'ConflictError': {
      const { title, details = [problem.message] } = CONFLICTS[problem.reason];
      return createFailure(title, {
        details,
        isUncertain: problem.reason === 'IDEMPOTENCY_IN_PROGRESS',
        isTaken: problem.reason === 'ALREADY_EXISTS',
      });
    }
    case 'InvalidInputError':
      return explainIssues(problem.issues, problem.message);
  }
}

/** `input.email` belongs to the field "email"; what names no field is said above the form. */
function explainIssues(issues: readonly { path: readonly string[]; message: string }[], message: string): Failure {
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message: issue } of issues) {
    const [, field] = path;
    if (field === undefined) {
      others.push(issue);
    } else {
      fields[field] = fields[field] === undefined ? issue : `${fields[field]} ${issue}`;
    }
  }
  const details = issues.length === 0 ? [message] : others;
  return createFailure('The service did not accept this.', { details, fields });
}

/** `NotificationGroup` becomes `group`. */
const nounOf = (resource: string) => (resource === 'NotificationGroup' ? 'group' : resource.toLowerCase());
