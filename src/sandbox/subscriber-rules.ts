import { ApiError } from './errors.ts';
import { optionalText, type Row } from './rows.ts';

/** Rules of the service for fields that the OpenAPI document describes as text. */
const RULES: readonly [field: string, isValid: (value: string) => boolean, rule: string][] = [
  ['email', isEmail, 'an email address'],
  ['avatar', isHttpUrl, 'an http or https URL'],
  ['locale', isLocale, 'a locale such as en or en_US'],
];

/** Rejects a subscriber with an invalid email address, avatar or locale. @throws {ApiError} 422 with one sentence per field */
export function checkSubscriber(input: Row): void {
  const problems = RULES.flatMap(([field, isValid, rule]) => {
    const value = optionalText(input, field);
    return value === null || isValid(value) ? [] : [`"${field}" must be ${rule}.`];
  });
  if (problems.length > 0) {
    throw new ApiError(422, problems);
  }
}

/** Whether a text has the form of an email address. Stricter rules reject addresses that exist. */
function isEmail(value: string): boolean {
  return /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value);
}

function isHttpUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Whether a text is a language tag (BCP 47). The service also accepts underscores. */
function isLocale(value: string): boolean {
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1;
  } catch {
    return false;
  }
}
