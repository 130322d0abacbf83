// Checks arguments before any call.

import { type GraphQLType, getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { badUserInput } from '../../graphql/values.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { InputIssue } from '../../upstream/errors.ts';
import { findIdProblem, findNameProblem, findProfileProblem, findTextProblem } from '../../upstream/input-rules.ts';

/** Throws BAD_USER_INPUT unless `min <= value <= max`. */
export function assertRange(name: string, value: number, min: number, max: number): void {
  if (value < min || value > max) {
    throw badUserInput(`${name} must be between ${min} and ${max}, but is ${value}.`);
  }
}

/** Extension of the input fields of a subscriber's profile, which null clears. */
export const PROFILE = { textRule: 'profile' } as const;

/** Extension of the input fields of names. */
export const NAME = { textRule: 'name' } as const;

/** Functions that find the problem of a text, by the extension `textRule` of its input field. */
const TEXT_RULES = new Map<unknown, typeof findTextProblem>([
  ['profile', findProfileProblem],
  ['name', findNameProblem],
]);

/**
 * Returns the problems of an input, at any depth: ids that no path can have, because what is created with one couldn't be read, and names and fields with
 * `PROFILE` that can't be sent. Slashes are refused only in a path: there are people whose ids have them, and events to them are sent.
 */
export function findInputIssues(
  value: unknown,
  type: GraphQLType | undefined,
  path: string[] = [],
  textRule?: unknown,
): InputIssue[] {
  const inner = getNullableType(type);
  if (isRecord(value) && isInputObjectType(inner)) {
    return Object.values(inner.getFields()).flatMap(({ name, type: fieldType, extensions }) =>
      findInputIssues(value[name], fieldType, [...path, name], extensions.textRule),
    );
  }
  if (Array.isArray(value) && isListType(inner)) {
    return value.flatMap((item, i) => findInputIssues(item, inner.ofType, [...path, String(i)]));
  }
  const isId = getNamedType(inner)?.name === 'ID';
  const findProblem = TEXT_RULES.get(textRule) ?? (isId ? findTextProblem : undefined);
  if (typeof value !== 'string' || findProblem === undefined) {
    return [];
  }
  const name = path.slice(path.findLastIndex((part) => !/^\d+$/.test(part))).join('.');
  const problem = findProblem(name, value) ?? (isId ? findIdProblem(value, true) : undefined);
  return problem === undefined ? [] : [{ path, message: `${name} ${problem}.` }];
}
