// Resources that several users share, and that are disposed after the last of them.

export interface SharedResource<Resource> {
  readonly resource: Resource;
  /** Ends this use. The resource is disposed when its last use ends. */
  release(): Promise<void>;
}

export function createSharedResources<Resource extends AsyncDisposable>() {
  const shared = new Map<string, { resource: Resource; users: number }>();
  return {
    /** Opens the resource with a key, and creates it for the first user. */
    open(key: string, create: () => Resource): SharedResource<Resource> {
      const entry = shared.get(key) ?? { resource: create(), users: 0 };
      shared.set(key, entry);
      entry.users += 1;
      let isOpen = true;
      return {
        resource: entry.resource,
        async release() {
          if (isOpen) {
            isOpen = false;
            entry.users -= 1;
            if (entry.users === 0) {
              shared.delete(key);
              await entry.resource[Symbol.asyncDispose]();
            }
          }
        },
      };
    },
  };
}
