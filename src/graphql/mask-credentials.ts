import { isRecord } from '../lib/is-record.ts';
import { requireValue } from './errors.ts';

/** What stands in place of a credential. */
const MASK = '[masked]';

/** What says which provider a channel belongs to; everything else in it can be a token, or the address of a webhook. */
const SHOWN = new Set(['providerId', 'provider', 'type', 'integrationIdentifier', '_integrationId']);

/** What a member is called, as opposed to a token that things are filed under. */
const MEMBER_NAME = /^[a-z_]{1,32}$/i;

/** What is deeper is no setting. */
const MAX_DEPTH = 16;

/**
 * The channel settings of a subscriber without their credentials: which providers there are, and what is set.
 *
 * @param channels as the service sent them; fails with UPSTREAM_BAD_RESPONSE where they are no list of objects
 */
export function maskCredentials(channels: unknown): Record<string, unknown>[] {
  const records: unknown[] | undefined = Array.isArray(channels) ? channels : undefined;
  return requireValue(records).map((channel) => {
    const members = Object.entries(requireValue(isRecord(channel) ? channel : undefined));
    return Object.fromEntries(
      members.map(([name, value]) =>
        SHOWN.has(name) && typeof value === 'string' ? [name, value] : [shownName(name), mask(value, 1)],
      ),
    );
  });
}

/** Keeps the structure, and whether something is set. */
function mask(value: unknown, depth: number): unknown {
  if (value === null || value === '') {
    return value;
  }
  if (typeof value !== 'object' || depth > MAX_DEPTH) {
    return MASK;
  }
  return Array.isArray(value)
    ? value.map((item) => mask(item, depth + 1))
    : Object.fromEntries(Object.entries(value).map(([name, inner]) => [shownName(name), mask(inner, depth + 1)]));
}

const shownName = (name: string): string => (MEMBER_NAME.test(name) ? name : MASK);
