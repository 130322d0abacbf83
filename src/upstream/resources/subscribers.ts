import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type SubscriberBody = components['schemas']['Subscriber'];
export type SubscriberFields = components['schemas']['CreateSubscriber'];

/** Creates the subscriber, or updates the record with the same subscriberId. */
export const createSubscriber = (client: UpstreamClient, fields: SubscriberFields, idempotencyKey?: string) =>
  client.write<SubscriberBody>({
    method: 'POST',
    route: '/v1/subscribers',
    body: fields,
    idempotencyKey,
    expect: 'record',
  });
