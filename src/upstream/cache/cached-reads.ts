import type { CachedResource, CacheSettings } from '../../settings/cache.ts';
import type { paths } from '../openapi.gen.ts';
import type { Tag } from './store.ts';
import { groupTags, type PathParams, recordTag, workflowTags } from './tags.ts';
import { type CacheWindows, windowsOf } from './windows.ts';

/** Endpoint whose responses can be stored. */
export interface CachedRead {
  /** Section of its settings. */
  resource: CachedResource;
  /** Returns the tag of the record that a path names; writes with this tag change it, and a 404 means that it is gone. @default none: a list */
  record?: (params: PathParams) => Tag;
  /** Returns the other tags of a response. */
  tags: (body: unknown) => readonly Tag[];
}

/** Reads that are cached: one line per endpoint. Others always call the service. */
const CACHED_READS: { readonly [Route in keyof paths]?: CachedRead } = {
  '/v1/workflows/{workflowIdOrIdentifier}': {
    resource: 'workflows',
    record: ({ workflowIdOrIdentifier = '' }) => recordTag('workflow', workflowIdOrIdentifier),
    tags: (body) => ['workflows', ...workflowTags(body)],
  },
  '/v1/notification-groups': { resource: 'notificationGroups', tags: () => ['groups'] },
  '/v1/notification-groups/{id}': {
    resource: 'notificationGroups',
    record: ({ id = '' }) => recordTag('group', id),
    tags: groupTags,
  },
  '/v1/notifications/graph/stats': { resource: 'statistics', tags: () => ['statistics'] },
};

/** Returns the tags of a response. */
export function tagsOf({ record, tags }: CachedRead, params: PathParams, body: unknown): Tag[] {
  return [...new Set([...(record === undefined ? [] : [record(params)]), ...tags(body)])];
}

/** Returns the reads that these settings cache, by route. */
export function cachedReadsOf(settings: CacheSettings): Map<string, { endpoint: CachedRead; windows: CacheWindows }> {
  const reads = new Map<string, { endpoint: CachedRead; windows: CacheWindows }>();
  for (const [route, endpoint] of Object.entries(CACHED_READS)) {
    const windows = windowsOf(settings, endpoint.resource);
    if (windows !== undefined) {
      reads.set(route, { endpoint, windows });
    }
  }
  return reads;
}
