// Resources that several users share, and that are disposed after the last of them.

/** Creates an empty set of resources, whose functions need no `this`. */
export function createSharedResources<Resource extends AsyncDisposable>() {
  const shared = new Map<string, { resource: Resource; users: number }>();
  return {
    /** Opens the resource with a key, and creates it for the first user. Disposing it ends this use, and the last one disposes the resource. */
    open(key: string, create: () => Resource): Resource {
      const entry = shared.get(key) ?? { resource: create(), users: 0 };
      shared.set(key, entry);
      entry.users += 1;
      let isOpen = true;
      return {
        ...entry.resource,
        async [Symbol.asyncDispose]() {
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
