import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type SubscriberBody = components['schemas']['Subscriber'];
export type SubscriberFields = components['schemas']['CreateSubscriber'];

/**
 * Creates the subscriber, or updates the record with the same subscriberId.
 *
 * @param isBulkItem whether it is one of many, which have a limit of their own
 */
export const createSubscriber = (
  client: UpstreamClient,
  fields: SubscriberFields,
  idempotencyKey?: string,
  isBulkItem = false,
) =>
  client.write<SubscriberBody>({
    method: 'POST',
    route: '/v1/subscribers',
    body: fields,
    idempotencyKey,
    isBulkItem,
    expect: 'record',
  });
