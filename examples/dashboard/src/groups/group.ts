// Defines the type of groups and their keys, and tells the cache about changes of them.

import type { GroupsResult } from '../documents.gen.ts';

export type Group = NonNullable<NonNullable<GroupsResult['notificationGroups']>[number]>;

/** Returns the id, or the name if the service sent no id. */
export const keyOfGroup = ({ id, name }: Group): string => id ?? name;

/** Tells the cache that an operation concerns groups even if its result has none, such as a deletion or an empty list. */
export const GROUPS_CHANGE = { additionalTypenames: ['NotificationGroup'] };
