import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type TopicBody = components['schemas']['Topic'];

export const listTopics = (client: UpstreamClient) => client.read<TopicBody[]>({ route: '/v1/topics', expect: 'list' });

export const createTopic = (client: UpstreamClient, name: string, idempotencyKey?: string) =>
  client.write<TopicBody>({ method: 'POST', route: '/v1/topics', body: { name }, idempotencyKey, expect: 'record' });
