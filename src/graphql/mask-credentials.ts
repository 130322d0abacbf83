import { isRecord } from '../lib/is-record.ts';
import { requireValue } from './field-errors.ts';

/** Replacement for a credential. */
const MASK = '[masked]';

/** Members that identify the provider of a channel. All others can contain a token or a webhook URL. */
const VISIBLE_MEMBERS = new Set(['providerId', 'provider', 'type', 'integrationIdentifier', '_integrationId']);

/** Form of member names that are shown. Other names can be tokens used as keys. */
const MEMBER_NAME = /^[a-z_]{1,32}$/i;

/** Maximum nesting of settings; deeper values are masked as a whole. */
const MAX_DEPTH = 16;

/**
 * Masks the credentials in a subscriber's channel settings. Shows the providers and which settings have a value.
 *
 * @param channels the settings as the service sent them
 * @throws {GraphQLError} UPSTREAM_BAD_RESPONSE if they are not a list of objects
 */
export function maskCredentials(channels: unknown): Record<string, unknown>[] {
  const records: unknown[] | undefined = Array.isArray(channels) ? channels : undefined;
  return requireValue(records).map((channel) => {
    const members = Object.entries(requireValue(isRecord(channel) ? channel : undefined));
    return Object.fromEntries(
      members.map(([name, value]) =>
        VISIBLE_MEMBERS.has(name) && typeof value === 'string' ? [name, value] : [maskName(name), mask(value, 1)],
      ),
    );
  });
}

/** Masks a value. Keeps its structure, and null and empty values. */
function mask(value: unknown, depth: number): unknown {
  if (value === null || value === '') {
    return value;
  }
  if (typeof value !== 'object' || depth > MAX_DEPTH) {
    return MASK;
  }
  return Array.isArray(value)
    ? value.map((item) => mask(item, depth + 1))
    : Object.fromEntries(Object.entries(value).map(([name, inner]) => [maskName(name), mask(inner, depth + 1)]));
}

const maskName = (name: string): string => (MEMBER_NAME.test(name) ? name : MASK);
