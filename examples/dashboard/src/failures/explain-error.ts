// Explains the `errors` of an operation to the user.

import type { CombinedError } from 'urql';
import { SessionRefused } from '../session/server.ts';
import { RenewalFailed } from '../session/session.ts';
import { createFailure, type Failure, UNCERTAIN, UNCHANGED } from './failure.ts';

/** The `extensions` of an error; see docs/errors.md. */
interface Extensions {
  code?: string;
  scope?: string;
  outcome?: 'NOT_APPLIED' | 'UNKNOWN';
  retryAfterSeconds?: number;
  requestId?: string;
}

type Words = (extensions: Extensions, message: string) => [title: string, ...details: string[]];

const WORDS: Readonly<Record<string, Words>> = {
  FORBIDDEN: ({ scope }, message) =>
    scope === undefined
      ? ['This is not allowed.', message]
      : ['You do not have access to this.', `This requires ${scope}, which your account does not have.`],
  UNAUTHENTICATED: (_, message) => ['The gateway does not accept your session.', message],
  SIGN_IN_UNAVAILABLE: ({ retryAfterSeconds }) => [
    'The gateway cannot check your session at the moment.',
    waitFor(retryAfterSeconds),
  ],
  RATE_LIMITED: ({ retryAfterSeconds }) => ['Too many requests.', waitFor(retryAfterSeconds)],
  OVERLOADED: ({ retryAfterSeconds }) => ['The gateway is busy.', waitFor(retryAfterSeconds)],
  UPSTREAM_TIMEOUT: () => ['The notification service did not respond in time.'],
  UPSTREAM_UNAVAILABLE: () => ['The notification service is not available at the moment.'],
  UPSTREAM_ERROR: () => ['The notification service failed on this request.'],
  UPSTREAM_BAD_RESPONSE: () => ['The notification service sent an invalid response.'],
  BUDGET_EXCEEDED: () => ['This asks for too much at once.'],
  BAD_USER_INPUT: (_, message) => ['This was not accepted.', message],
  PERSISTED_QUERY_NOT_FOUND: () => OUT_OF_DATE,
  DOCUMENT_NOT_TRUSTED: () => OUT_OF_DATE,
};

const OUT_OF_DATE: [string, string] = [
  'This page is out of date.',
  'The gateway does not know this version of the app: reload the page.',
];

const waitFor = (seconds: number | undefined) =>
  seconds === undefined
    ? 'Wait a moment, then try again.'
    : seconds > 120
      ? `Wait ${Math.ceil(seconds / 60)} minutes, then try again.`
      : `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then try again.`;

export function explainError({ networkError, graphQLErrors }: CombinedError, kind: 'read' | 'write'): Failure {
  const [first] = graphQLErrors;
  if (first === undefined) {
    return explainNetworkError(networkError, kind);
  }
  const extensions: Extensions = first.extensions;
  const words = WORDS[extensions.code ?? ''] ?? ((_, message): [string, string] => ['Something went wrong.', message]);
  const [title, ...details] = words(extensions, first.message);
  const { retryAfterSeconds, requestId } = extensions;
  // A write that failed has an outcome; one that was refused before has none.
  const outcome = kind === 'read' ? undefined : (extensions.outcome ?? 'NOT_APPLIED');
  return createFailure(title, {
    details: [...details, ...(outcome === 'UNKNOWN' ? [UNCERTAIN] : outcome === 'NOT_APPLIED' ? [UNCHANGED] : [])],
    isUncertain: outcome === 'UNKNOWN',
    ...(retryAfterSeconds !== undefined && { waitSeconds: retryAfterSeconds }),
    ...(requestId !== undefined && { requestId }),
  });
}

function explainNetworkError(error: Error | undefined, kind: 'read' | 'write'): Failure {
  if (error instanceof SessionRefused) {
    return createFailure('Your session has ended.', { details: kind === 'write' ? [UNCHANGED] : [] });
  }
  if (error instanceof RenewalFailed) {
    const details = ['The sign-in service cannot be reached to renew your session.'];
    return createFailure('Your session could not be renewed.', {
      details: kind === 'write' ? [...details, UNCHANGED] : details,
    });
  }
  return createFailure('The gateway cannot be reached.', {
    details: [kind === 'write' ? UNCERTAIN : 'Check your connection, then try again.'],
    isUncertain: kind === 'write',
  });
}
