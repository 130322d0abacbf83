import DataLoader from 'dataloader';
import type { Endpoint } from '../../upstream/errors/errors.ts';
import type { NotificationGroupBody } from '../../upstream/resources/notification-groups.ts';
import { assertPathParams } from '../../upstream/transport/path.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { alignByKey } from './align-by-key.ts';

const GROUP_BY_ID: Endpoint = { method: 'GET', route: '/v1/notification-groups/{id}' };

type GroupReads = Pick<Upstream, 'getNotificationGroup' | 'listNotificationGroups'>;

/** The notification groups as one operation sees them. */
export interface NotificationGroupLoader {
  /** null: there is none. The first id of an operation costs one call, all further ones together one list call. */
  load(id: string): Promise<NotificationGroupBody | null>;
  /** All groups, at most one call. null: the service does not know the list. */
  list(): Promise<NotificationGroupBody[] | null>;
  /** Forgets what a write is about to change: everything that was listed, and the group with this id. */
  forget(id?: string): void;
  /** Keeps the group as a write has answered it, and gives it back with the id asked for where it has none. */
  keep(id: string, group: NotificationGroupBody): NotificationGroupBody;
  /** Remembers that the group is deleted. */
  keepDeleted(id: string): void;
}

export function createNotificationGroupLoader(upstream: GroupReads): NotificationGroupLoader {
  let listed: Promise<NotificationGroupBody[] | null> | undefined;
  let askedForOne = false;

  const list = () => {
    listed ??= upstream.listNotificationGroups();
    return listed;
  };

  /** Two ids or more, now or over the operation, are cheaper as one list. */
  async function loadGroups(ids: readonly string[]): Promise<(NotificationGroupBody | null | Error)[]> {
    const [id] = ids;
    if (id !== undefined && ids.length === 1 && listed === undefined && !askedForOne) {
      askedForOne = true;
      return [await loadGroup(upstream, id)];
    }
    const groups = (await list()) ?? [];
    const found = alignByKey(ids, groups, idOf);
    // The contract lets `_id` be absent; then a list cannot tell which group is missing.
    const isIdentified = groups.every((group) => idOf(group) !== undefined);
    if (isIdentified) {
      return found;
    }
    return Promise.all(ids.map((id, i) => found[i] ?? loadGroup(upstream, id).catch((error: Error) => error)));
  }

  const loader = new DataLoader(loadGroups, { name: 'notificationGroup' });
  return {
    async load(id) {
      assertPathParams(GROUP_BY_ID, { id }); // A list call would take any id, and answer null for an impossible one.
      return loader.load(id);
    },
    list,
    forget(id) {
      listed = undefined;
      if (id !== undefined) {
        loader.clear(id);
      }
    },
    keep(id, group) {
      const identified = withId(group, id);
      loader.clear(id).prime(id, identified);
      return identified;
    },
    keepDeleted(id) {
      loader.clear(id).prime(id, null);
    },
  };
}

async function loadGroup(upstream: GroupReads, id: string): Promise<NotificationGroupBody | null> {
  const group = await upstream.getNotificationGroup(id);
  return group && withId(group, id);
}

const idOf = (group: NotificationGroupBody): string | undefined => group._id;

/** The contract lets `_id` be absent; whoever asked by id knows it. */
const withId = (group: NotificationGroupBody, id: string): NotificationGroupBody =>
  group._id === undefined ? { ...group, _id: id } : group;
