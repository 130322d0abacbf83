import type { CachedResource } from '../../settings/cache.ts';
import type { paths } from '../openapi.gen.ts';
import type { CachedKind } from './store.ts';

/** Endpoint whose responses can be stored. */
export interface CachedRead {
  /** Section of its settings. */
  resource: CachedResource;
  kind: CachedKind;
}

/** Reads that are cached: one line per endpoint. Others always call the service. */
export const CACHED_READS: { readonly [Route in keyof paths]?: CachedRead } = {
  '/v1/workflows/{workflowIdOrIdentifier}': { resource: 'workflows', kind: 'workflows' },
  '/v1/notification-groups': { resource: 'notificationGroups', kind: 'workflows' }, // Workflows embed their group.
  '/v1/notification-groups/{id}': { resource: 'notificationGroups', kind: 'workflows' },
  '/v1/notifications/graph/stats': { resource: 'statistics', kind: 'statistics' },
};

type Method = 'post' | 'put' | 'patch' | 'delete';

/** Method and route of each write in the contract. */
export type WriteEndpoint = {
  [Route in keyof paths]: {
    [M in Method]: paths[Route][M] extends object ? `${Uppercase<M>} ${Route}` : never;
  }[Method];
}[keyof paths];

/** Writes, and the kinds of cached reads that each one empties: one line per endpoint. */
export const WRITE_EFFECTS: Readonly<Record<WriteEndpoint, readonly CachedKind[]>> = {
  'POST /v1/notification-groups': ['workflows'],
  'PATCH /v1/notification-groups/{id}': ['workflows'],
  'DELETE /v1/notification-groups/{id}': ['workflows'],
  'PUT /v1/workflows/{workflowId}/status': ['workflows'],
  'DELETE /v1/messages/transaction/{transactionId}': ['statistics'],
  'POST /v1/subscribers': [],
  'POST /v1/feeds': [],
  'DELETE /v1/feeds/{feedId}': [],
};
