import { useKept } from './use-kept.ts';

/** Returns when the shown data was current, in milliseconds, or undefined if there is none yet. A failed reload does not change it. */
export function useLoadedAt({ extensions }: { extensions?: Record<string, unknown> | undefined }): number | undefined {
  const loadedAt = extensions?.loadedAt;
  return useKept(typeof loadedAt === 'number' ? loadedAt : undefined);
}
