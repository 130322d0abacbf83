import type { GroupsResult } from '../documents.gen.ts';

export type Group = NonNullable<GroupsResult['notificationGroups']>[number];

/** The service may send no id: then the name has to do. */
export const keyOfGroup = ({ id, name }: Group): string => id ?? name;

/** Tells the cache that an operation is about groups, where its answer may hold none: a deletion, an empty list. */
export const GROUPS_CHANGE = { additionalTypenames: ['NotificationGroup'] };

/** What is wrong with a name before it is sent. */
export const problemOfName = (name: string): string | undefined =>
  name.trim() === '' ? 'A group needs a name.' : undefined;
