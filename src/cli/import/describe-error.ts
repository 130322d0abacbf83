import type { SubscriberFields } from '../../upstream/endpoints/subscribers.ts';
import { OUTCOME_UNKNOWN, type UpstreamError } from '../../upstream/errors.ts';

/** Shorter values, such as a locale, are too common to be replaced. */
const MIN_LENGTH = 3;

/** End of a message that was truncated. */
const CUT = '…';

/**
 * Returns the message of an error without the values of the row, which are personal data. The service may have quoted them, in upper or lower
 * case, or cut. Also leaves out the advice to check the subscriber, because the import sends the row again.
 */
export function describeError({ message }: UpstreamError, { subscriberId: _, ...fields }: SubscriberFields): string {
  const values = listValues(fields)
    .filter((value) => value.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  const sentence = message.replace(OUTCOME_UNKNOWN, '').trim();
  return values.reduce((text, value) => withoutCut(without(text, value), value), sentence);
}

function listValues(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(listValues);
  }
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function without(text: string, value: string): string {
  // A longer value can't be in the text, and would only take time.
  return value.length <= text.length ? text.replace(new RegExp(escapeRegExp(value), 'giu'), CUT) : text;
}

/** Removes the beginning of a value from the end of a text that was truncated. */
function withoutCut(text: string, value: string): string {
  if (!text.endsWith(CUT)) {
    return text;
  }
  const rest = text.slice(0, -CUT.length);
  const lowerRest = rest.toLowerCase();
  const lowerValue = value.toLowerCase();
  for (let length = Math.min(value.length, rest.length); length >= MIN_LENGTH; length -= 1) {
    if (lowerRest.endsWith(lowerValue.slice(0, length))) {
      return `${rest.slice(0, -length)}${CUT}`;
    }
  }
  return text;
}

const escapeRegExp = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');
