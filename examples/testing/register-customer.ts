// Registers the customers of a shop at the notification service.

import { type Client, CreateSubscriberDocument } from 'notigraph/client';

/** Customer of a shop. */
export interface Customer {
  id: string;
  firstName: string;
  email: string;
}

/**
 * Registers a customer as a subscriber. If the outcome is unknown, sends the change once more with the same key, so that it isn't applied
 * twice.
 *
 * @returns the problems of invalid input; none if the customer is registered
 */
export async function registerCustomer(client: Client, { id, firstName, email }: Customer): Promise<string[]> {
  const input = { subscriberId: id, firstName, email, idempotencyKey: crypto.randomUUID() };
  let result = await client.request(CreateSubscriberDocument, { input });
  if (result.errors?.[0]?.extensions.outcome === 'UNKNOWN') {
    result = await client.request(CreateSubscriberDocument, { input });
  }
  if (result.errors !== undefined) {
    throw new Error(result.errors[0]?.message);
  }
  const registered = result.data.createSubscriber;
  if (registered?.__typename === 'InvalidInputError') {
    return registered.issues.map(({ message }) => message);
  }
  return [];
}
