import DataLoader from 'dataloader';
import type { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import type { NotificationGroupBody } from '../../upstream/endpoints/notification-groups.ts';
import type { Endpoint } from '../../upstream/errors.ts';
import { assertPathParams } from '../../upstream/transport/path.ts';
import { toId } from '../field-errors.ts';

const GROUP_BY_ID: Endpoint = { method: 'GET', route: '/v1/notification-groups/{id}' };

/** Call that a group can take after the list that it is taken from. */
export const GROUP_AFTER_LIST = {
  route: '/v1/notification-groups/{id}',
  reason: 'None unless the list contains groups without ids.',
} as const;

type GroupEndpoints = Pick<Endpoints, 'getNotificationGroup' | 'listNotificationGroups'>;

/** Loader of the notification groups for one operation. */
export type NotificationGroupLoader = ReturnType<typeof createNotificationGroupLoader>;

/**
 * Creates the loader of an operation.
 *
 * @param onList called with the ids of groups that are taken from the list
 */
export function createNotificationGroupLoader(upstream: GroupEndpoints, onList?: (ids: readonly string[]) => void) {
  let groups: Promise<NotificationGroupBody[] | null> | undefined;
  let hasLoadedOne = false;

  /** Returns all groups with at most one call. Returns null if the service responds with 404. */
  function listGroups(): Promise<NotificationGroupBody[] | null> {
    groups ??= upstream.listNotificationGroups();
    return groups;
  }

  /** Loads one group by its id. Uses one list call if the operation needs two or more, because that takes fewer calls. */
  async function loadGroups(ids: readonly string[]): Promise<(NotificationGroupBody | null | Error)[]> {
    const [id] = ids;
    if (id !== undefined && ids.length === 1 && groups === undefined && !hasLoadedOne) {
      hasLoadedOne = true;
      return [await loadGroup(upstream, id)];
    }
    onList?.(ids);
    const list = (await listGroups()) ?? [];
    const found = alignByKey(ids, list, idOf);
    // The contract allows `_id` to be absent; then the list doesn't show which groups are missing.
    const isIdentified = list.every((group) => idOf(group) !== undefined);
    if (isIdentified) {
      return found;
    }
    return Promise.all(ids.map((id, i) => found[i] ?? loadGroup(upstream, id).catch((error: Error) => error)));
  }

  const loader = new DataLoader(loadGroups, { name: 'notificationGroup' });
  return {
    /**
     * Returns the group, or null if it doesn't exist. The first id of an operation takes one call, all others together one list call.
     *
     * @throws {UpstreamError} BAD_USER_INPUT if the id can't be part of a call
     */
    load(id: string): Promise<NotificationGroupBody | null> {
      assertPathParams(GROUP_BY_ID, { id }); // A list call would accept an invalid id and return null.
      return loader.load(id);
    },
    list: listGroups,
    /** Clears what a write is about to change: the list, and the group with this id if there is one. */
    clear(id?: string): void {
      groups = undefined;
      if (id !== undefined) {
        loader.clear(id);
      }
    },
    /** Caches the group that a write returned. Returns it with the requested id if it has none. */
    prime(id: string, group: NotificationGroupBody): NotificationGroupBody {
      const identified = withId(group, id);
      loader.clear(id).prime(id, identified);
      return identified;
    },
    /** Caches that the group is deleted. */
    primeDeleted(id: string): void {
      loader.clear(id).prime(id, null);
    },
  };
}

async function loadGroup(upstream: GroupEndpoints, id: string): Promise<NotificationGroupBody | null> {
  const group = await upstream.getNotificationGroup(id);
  return group && withId(group, id);
}

const idOf = (group: NotificationGroupBody): string | undefined => toId(group._id);

/** Adds the requested id to a group without one. The contract allows `_id` to be absent. */
const withId = (group: NotificationGroupBody, id: string): NotificationGroupBody =>
  group._id === undefined ? { ...group, _id: id } : group;

/**
 * Returns one row per key, in the order of the keys, as DataLoader requires. The entry is null if no row has the key. Other rows are omitted;
 * of several rows with the same key, the first is used.
 */
export function alignByKey<Row>(
  keys: readonly string[],
  rows: readonly Row[],
  keyOf: (row: Row) => string | undefined,
): (Row | null)[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== undefined && !byKey.has(key)) {
      byKey.set(key, row);
    }
  }
  return keys.map((key) => byKey.get(key) ?? null);
}
