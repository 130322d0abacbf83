import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Feed as the service returns it. */
export type FeedBody = components['schemas']['Feed'];

/** Creates a feed. The service rejects an existing name with 409. */
export const createFeed = (client: UpstreamClient, name: string, idempotencyKey?: string) =>
  client.write<FeedBody>({ method: 'POST', route: '/v1/feeds', body: { name }, idempotencyKey, expect: 'record' });

/** Deletes a feed, and returns the remaining ones. */
export const deleteFeed = (client: UpstreamClient, feedId: string) =>
  client.write<FeedBody[]>({ method: 'DELETE', route: '/v1/feeds/{feedId}', params: { feedId }, expect: 'list' });
