import type { DeclaredEndpoint } from './endpoint.ts';
import { type InputIssue, invalidInput } from './errors.ts';
import { CONTROL_CHARACTER } from './transport/path.ts';

/**
 * Returns why a text can't be sent as a field of a record, or undefined if it can. Every field that is a text has a single line, and an avatar is
 * a URL that pages can show without risk.
 */
export function findTextProblem(field: string, text: string): string | undefined {
  if (CONTROL_CHARACTER.test(text)) {
    return 'must be a single line without control characters';
  }
  if (!text.isWellFormed()) {
    return 'must be well-formed Unicode';
  }
  return field === 'avatar' && !isHttpUrl(text) ? 'must be an http or https URL' : undefined;
}

/** Returns why a text can't be a field of a subscriber's profile. An empty one would be another way to clear it, which not every service has. */
export const findProfileProblem = (field: string, text: string): string | undefined =>
  findTextProblem(field, text) ?? (text === '' ? 'must not be empty. Use null to clear it' : undefined);

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

/** Throws an `UpstreamError` (BAD_USER_INPUT) if fields of a body can't be sent. The texts in free-form objects can be any. */
export function assertBody(endpoint: DeclaredEndpoint, body: object): void {
  const issues: InputIssue[] = [];
  for (const [field, value] of Object.entries(body)) {
    const problem =
      typeof value === 'string' && !endpoint.multiline.includes(field) ? findTextProblem(field, value) : undefined;
    if (problem !== undefined) {
      issues.push({ path: [field], message: `${field} ${problem}.` });
    }
  }
  if (issues.length > 0) {
    throw invalidInput(endpoint, issues);
  }
}
