import { isRecord } from '../../lib/is-record.ts';
import type { Tag } from './store.ts';

/** Values of the parameters in a path. */
export type PathParams = Readonly<Record<string, string>>;

/** Maximum tags of a response, so that neither a lookup nor a write of all of them takes long. */
export const MAX_TAGS = 128;

/** Returns the tag of one record. The service ignores the case of ids. */
export const recordTag = (kind: 'group' | 'workflow', id: string): Tag => `${kind}:${id.toLowerCase()}`;

/** Returns the tags of a workflow: its ids and its trigger identifiers, with each of which it can be requested. */
export function workflowTags(body: unknown): Tag[] {
  const { triggers } = isRecord(body) ? body : {};
  const identifiers = Array.isArray(triggers)
    ? triggers.map((trigger: unknown) => (isRecord(trigger) ? trigger.identifier : undefined))
    : [];
  return [...idsOf(body), ...identifiers.filter(isText)].map((id) => recordTag('workflow', id));
}

/** Returns the tags of a group. */
export const groupTags = (body: unknown): Tag[] => idsOf(body).map((id) => recordTag('group', id));

/** Returns the ids in a record. Some services send integers, which GraphQL accepts as ids. */
const idsOf = (body: unknown): string[] => (isRecord(body) ? [body._id, body.id].filter(isId).map(String) : []);

const isId = (value: unknown): value is string | number => isText(value) || typeof value === 'number';

const isText = (value: unknown): value is string => typeof value === 'string';
