import type { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import { createNotificationGroupLoader, type NotificationGroupLoader } from './notification-group-loader.ts';
import { createWorkflowLoader, type WorkflowLoader } from './workflow-loader.ts';

/** Endpoints that the loaders call. */
export type LoaderEndpoints = Pick<Endpoints, 'getWorkflow' | 'getNotificationGroup' | 'listNotificationGroups'>;

/** Loaders of one operation. They cache only for that operation. */
export interface Loaders {
  readonly workflow: WorkflowLoader;
  readonly notificationGroup: NotificationGroupLoader;
}

/** Part of the context through which a field makes calls. */
export interface FieldContext {
  readonly upstream: Endpoints;
  readonly loaders: Loaders;
}

/** Creates each loader on first use, because most operations need only one of them. */
export class OperationLoaders implements Loaders {
  readonly #upstream: LoaderEndpoints;
  readonly #onList: ((ids: readonly string[]) => void) | undefined;
  #workflow: WorkflowLoader | undefined;
  #notificationGroup: NotificationGroupLoader | undefined;

  /** @param onList called with the ids of groups that are taken from the list */
  constructor(upstream: LoaderEndpoints, onList?: (ids: readonly string[]) => void) {
    this.#upstream = upstream;
    this.#onList = onList;
  }

  get workflow(): WorkflowLoader {
    this.#workflow ??= createWorkflowLoader(this.#upstream);
    return this.#workflow;
  }

  get notificationGroup(): NotificationGroupLoader {
    this.#notificationGroup ??= createNotificationGroupLoader(this.#upstream, this.#onList);
    return this.#notificationGroup;
  }
}
