import DataLoader from 'dataloader';
import type { UpstreamClient } from '../upstream/client.ts';
import {
  getNotificationGroup,
  listNotificationGroups,
  type NotificationGroupBody,
} from '../upstream/endpoints/notification-groups.ts';
import { getWorkflow, type WorkflowBody } from '../upstream/endpoints/workflows.ts';
import type { Endpoint } from '../upstream/errors.ts';
import { assertPathParams } from '../upstream/transport/path.ts';
import { createBoundedMap } from './bounded-map.ts';
import { toId } from './field-errors.ts';

/** Returns the client for the call that loads a record, or the list that records are taken from. */
export type ClientFor = (record: string) => UpstreamClient;

/** Loaders of one operation. They cache only for that operation. */
export interface Loaders {
  readonly workflow: WorkflowLoader;
  readonly notificationGroup: NotificationGroupLoader;
}

/** Part of the context through which a field makes calls. */
export interface FieldContext {
  readonly upstream: UpstreamClient;
  readonly loaders: Loaders;
}

/** Creates each loader on first use, because most operations need only one of them. */
export class OperationLoaders implements Loaders {
  readonly #clientFor: ClientFor;
  readonly #onList: ((ids: readonly string[]) => void) | undefined;
  #workflow: WorkflowLoader | undefined;
  #notificationGroup: NotificationGroupLoader | undefined;

  /** @param onList called with the ids of groups that are taken from the list */
  constructor(clientFor: ClientFor, onList?: (ids: readonly string[]) => void) {
    this.#clientFor = clientFor;
    this.#onList = onList;
  }

  get workflow(): WorkflowLoader {
    this.#workflow ??= createWorkflowLoader(this.#clientFor);
    return this.#workflow;
  }

  get notificationGroup(): NotificationGroupLoader {
    this.#notificationGroup ??= createNotificationGroupLoader(this.#clientFor, this.#onList);
    return this.#notificationGroup;
  }
}

/** Maximum concurrent calls per operation: the service has no list of workflows, and its free tier allows 30 calls per second. */
const WORKFLOW_CONCURRENCY = 8;

/** Returns the name of the record that a key loads, for `ClientFor`. */
export const workflowRecord = (key: string): string => `workflow ${key}`;

/** Loader of workflows for one operation. */
type WorkflowLoader = ReturnType<typeof createWorkflowLoader>;

/**
 * Creates a loader that loads each distinct id or trigger identifier once per operation. A missing workflow is null, and an error affects
 * only its own key. Keys are batched although the service has no list: workflows of one tick then resolve together, so that their groups
 * are loaded in one batch.
 */
function createWorkflowLoader(clientFor: ClientFor) {
  const loadAll = createBoundedMap<string, WorkflowBody | null | Error>(WORKFLOW_CONCURRENCY);
  const loader = new DataLoader<string, WorkflowBody | null>(
    (keys) =>
      loadAll(keys, (key, end) => {
        getWorkflow(clientFor(workflowRecord(key)), key).then(
          (workflow) => end(workflow && withKey(workflow, key)),
          end,
        );
      }),
    { name: 'workflow' },
  );
  // Repeated keys share a promise until the next microtask, before DataLoader sends the batch. Its own promise for each of them takes
  // longer than to complete the value: a month of statistics loads ten workflows ninety times.
  let recent: Map<string, Promise<WorkflowBody | null>> | undefined;
  return {
    /** Loads a workflow by its id or trigger identifier. */
    load(key: string): Promise<WorkflowBody | null> {
      if (recent === undefined) {
        recent = new Map();
        queueMicrotask(() => {
          recent = undefined;
        });
      }
      const promise = recent.get(key) ?? loader.load(key);
      recent.set(key, promise);
      return promise;
    },
    /** Forgets all workflows. */
    clearAll(): void {
      recent = undefined;
      loader.clearAll();
    },
  };
}

/** Adds the key as id to a workflow without one, unless the key is a trigger identifier. The contract allows `_id` to be absent. */
function withKey(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () =>
    Array.isArray(workflow.triggers) && workflow.triggers.some((trigger) => trigger?.identifier === key);
  const id = workflow._id ?? workflow.id;
  return id !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}

const GROUP_BY_ID: Endpoint = { method: 'GET', route: '/v1/notification-groups/{id}' };

/** Call that a group can take after the list that it is taken from. */
export const GROUP_AFTER_LIST = {
  route: '/v1/notification-groups/{id}',
  reason: 'None unless the list contains groups without ids.',
} as const;

/** Name of the list of groups, for `ClientFor`. */
export const GROUP_LIST = 'list of groups';

/** Returns the name of the group with an id, for `ClientFor`. */
export const groupRecord = (id: string): string => `group ${id}`;

/** Loader of the notification groups for one operation. */
type NotificationGroupLoader = ReturnType<typeof createNotificationGroupLoader>;

/**
 * Creates the loader of an operation.
 *
 * @param onList called with the ids of groups that are taken from the list
 */
function createNotificationGroupLoader(clientFor: ClientFor, onList?: (ids: readonly string[]) => void) {
  let groups: Promise<NotificationGroupBody[] | null> | undefined;
  let hasLoadedOne = false;

  /** Returns all groups with at most one call. Returns null if the service responds with 404. */
  function listGroups(): Promise<NotificationGroupBody[] | null> {
    groups ??= listNotificationGroups(clientFor(GROUP_LIST));
    return groups;
  }

  /** Loads one group by its id. Uses one list call if the operation needs two or more, because that takes fewer calls. */
  async function loadGroups(ids: readonly string[]): Promise<(NotificationGroupBody | null | Error)[]> {
    const [id] = ids;
    if (id !== undefined && ids.length === 1 && groups === undefined && !hasLoadedOne) {
      hasLoadedOne = true;
      return [await loadGroup(clientFor, id)];
    }
    onList?.(ids);
    const list = (await listGroups()) ?? [];
    const found = alignByKey(ids, list, idOf);
    // The contract allows `_id` to be absent; then the list doesn't show which groups are missing.
    const isIdentified = list.every((group) => idOf(group) !== undefined);
    if (isIdentified) {
      return found;
    }
    return Promise.all(ids.map((id, i) => found[i] ?? loadGroup(clientFor, id).catch((error: Error) => error)));
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

async function loadGroup(clientFor: ClientFor, id: string): Promise<NotificationGroupBody | null> {
  const group = await getNotificationGroup(clientFor(groupRecord(id)), id);
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
