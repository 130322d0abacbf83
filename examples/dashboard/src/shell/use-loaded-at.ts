import { useKept } from './use-kept.ts';

/** Returns when the shown data arrived, in milliseconds, or undefined if it has not. A failed reload does not change it. */
export function useLoadedAt({ extensions }: { extensions?: Record<string, unknown> | undefined }): number | undefined {
  const loadedAt = extensions?.loadedAt;
  return useKept(typeof loadedAt === 'number' ? loadedAt : undefined);
}
