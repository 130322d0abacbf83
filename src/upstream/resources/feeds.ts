import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type FeedBody = components['schemas']['Feed'];

/** A name that exists is refused with 409. */
export const createFeed = (client: UpstreamClient, name: string, idempotencyKey?: string) =>
  client.write<FeedBody>({ method: 'POST', route: '/v1/feeds', body: { name }, idempotencyKey, expect: 'record' });

/** Answers the feeds that remain. */
export const deleteFeed = (client: UpstreamClient, feedId: string) =>
  client.write<FeedBody[]>({ method: 'DELETE', route: '/v1/feeds/{feedId}', params: { feedId }, expect: 'list' });
