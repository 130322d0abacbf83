// Decides whose records a caller reaches: a token only those of its subject, an API key those of the person that it names.

import { GraphQLError } from 'graphql';
import type { GatewayContext } from '../../graphql/context.ts';
import { badUserInput } from '../../graphql/values.ts';
import { findIdProblem } from '../../upstream/input-rules.ts';

/** Description of an argument or input field with the id of a person whose records these are. */
export const SUBJECT =
  'The id of the person in your system. A token reaches only its subject, and can omit it. An API key must name somebody.';

/**
 * Returns the id of the person whose records a field reads or changes: with a token its subject, with an API key the id that the request names. Ids are
 * compared exactly, because all that a path can have are different to the service.
 *
 * @param sent id in the request, if any
 * @param name name of its argument or input field, for messages
 * @param endpoint endpoint that gets the id, if it permits slashes
 * @throws {GraphQLError} FORBIDDEN if a token has no subject, or another one; BAD_USER_INPUT if an API key names nobody
 */
export function subjectOf(
  { identity: { clientKind, subject = '' } }: Pick<GatewayContext, 'identity'>,
  sent: unknown,
  name: string,
  endpoint?: { readonly slashesInIds: boolean },
): string {
  if (clientKind === 'server') {
    if (typeof sent === 'string') {
      return sent;
    }
    throw badUserInput(`${name} is required with an API key, which belongs to no person.`);
  }
  const problem = subject === '' ? 'is missing' : findIdProblem(subject, endpoint?.slashesInIds);
  if (problem !== undefined) {
    throw forbidden(`This needs a token with the subject of a person. The subject of this token ${problem}.`);
  }
  if (sent != null && sent !== subject) {
    throw forbidden(`${name} is not the subject of the token, which permits no other. Omit ${name}.`);
  }
  return subject;
}

const forbidden = (message: string): GraphQLError => new GraphQLError(message, { extensions: { code: 'FORBIDDEN' } });
