import { isRecord } from '../lib/is-record.ts';
import { createCredentialFilter } from '../upstream/errors/credential-filter.ts';
import type { UpstreamRequest } from '../upstream/request.ts';

/** Ids in bodies, with their names in a line. Everything else in a body is a value. */
const BODY_IDS = [
  ['_id', 'id'],
  ['id', 'id'],
  ['subscriberId', 'subscriberId'],
] as const;

/** Maximum length of an id. */
const MAX_ID = 256;

/** Returns the ids of the records that a write is about: those in its path, the one that the caller chose, and that of a new record. */
export function idsOf({ authorization, call }: UpstreamRequest, body?: unknown): Record<string, string> {
  const ids: Record<string, string> = {};
  const isShowable = createCredentialFilter(authorization);
  for (const [name, value] of [...idsIn(body), ...idsIn(call.body), ...Object.entries(call.params ?? {})]) {
    const id = value.slice(0, MAX_ID);
    ids[name] = isShowable(id) ? id : '[key]';
  }
  return ids;
}

const idsIn = (body: unknown): [string, string][] =>
  BODY_IDS.flatMap(([member, name]): [string, string][] => {
    const value: unknown = isRecord(body) && Object.hasOwn(body, member) ? body[member] : undefined;
    return typeof value === 'string' ? [[name, value]] : [];
  }).toReversed();
