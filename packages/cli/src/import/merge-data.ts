// Writes a subscriber, and keeps members of its data that the row doesn't have.

import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { UpstreamClient } from '../../../../src/upstream/client.ts';
import { endpoint } from '../../../../src/upstream/endpoint.ts';
import { createSubscriber, type SubscriberBody, type SubscriberFields } from '../../../../src/upstream/endpoints.ts';

const getSubscriber = endpoint('GET /v1/subscribers/{subscriberId}', {
  identifiedBy: ['subscriberId'],
}).returns<SubscriberBody>();

/**
 * Writes a row. With `merges`, the subscriber is read before if the row has data: the service replaces `data` as a whole. What is sent then depends on
 * the time of the read, so it has a key of its own: a service rejects a key that it knows with another body.
 */
export async function writeRow(client: UpstreamClient, row: SubscriberFields, idempotencyKey: string, merges: boolean) {
  const { subscriberId, data } = row;
  if (!merges || !isRecord(data)) {
    return client.write(createSubscriber, { body: row, idempotencyKey });
  }
  const stored = await client.read(getSubscriber, { subscriberId });
  const body = { ...row, data: merge(stored?.data, data) };
  return client.write(createSubscriber, { body, idempotencyKey: randomUUID() });
}

/** Returns `next` with the members that only `stored` has, at any depth. They are own properties, whatever their names are. Lists are replaced. */
const merge = (stored: unknown, next: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  isRecord(stored)
    ? Object.fromEntries([
        ...Object.entries(stored),
        ...Object.entries(next).map(([name, value]): [string, unknown] => {
          const isDeep = isRecord(value) && Object.hasOwn(stored, name);
          return [name, isDeep ? merge(stored[name], value) : value];
        }),
      ])
    : { ...next };
