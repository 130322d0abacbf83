import type { Loaders } from './loaders.ts';

/** Functions that are called before a loader is used. */
export interface LoadWatcher {
  onWorkflow(key: string): void;
  onGroup(id: string): void;
  onGroupList(): void;
  /** Called before a write clears groups. @default not called */
  onGroupsCleared?(): void;
}

/** Returns loaders that share the records of others, and tell a watcher what they are asked for. */
export function watchLoads({ workflow, notificationGroup }: Loaders, watcher: LoadWatcher): Loaders {
  return {
    workflow: {
      ...workflow,
      load(key) {
        watcher.onWorkflow(key);
        return workflow.load(key);
      },
    },
    notificationGroup: {
      ...notificationGroup,
      load(id) {
        watcher.onGroup(id);
        return notificationGroup.load(id);
      },
      list() {
        watcher.onGroupList();
        return notificationGroup.list();
      },
      clear(id) {
        watcher.onGroupsCleared?.();
        notificationGroup.clear(id);
      },
    },
  };
}
