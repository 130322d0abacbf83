import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Subscriber as the service returns it. */
export type SubscriberBody = components['schemas']['Subscriber'];
/** Fields of a subscriber to create or update. */
export type SubscriberFields = components['schemas']['CreateSubscriber'];

/**
 * Creates a subscriber, or updates the one with the same `subscriberId`.
 *
 * @param isBulkItem whether the call is one item of a bulk write, which has a separate limit
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
