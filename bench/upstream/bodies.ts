// Bodies of the canned upstream, in the form and size of the service's. Bodies of one kind have the same length.

import { environmentId, GROUPS, groupId, idOf, POPULATION, padded, subscriberId, workflowId } from '../ids.ts';
import { CREATED, ORGANIZATION, wrap } from './workflow-body.ts';

/** Number of different workflows in the statistics. */
const WORKFLOWS_IN_STATS = 10;
/** Distance between their numbers, so that few of the statistics name a workflow whose id has a run of digits. */
const STATS_STRIDE = 20;

/** Returns a group in a credential's environment. */
const group = (number: number, credential: number) => ({
  _id: groupId(number),
  name: `Group ${padded(number)}`,
  _environmentId: environmentId(credential),
  _organizationId: ORGANIZATION,
  createdAt: CREATED,
  updatedAt: CREATED,
  __v: 0,
});

/** Returns the groups of a credential's environment. */
export const groupsBody = (credential: number, count: number): Buffer =>
  wrap(Array.from({ length: count }, (_, number) => group(number, credential)));

/** Returns one group of a credential's environment. */
export const groupBody = (number: number, credential: number): Buffer => wrap(group(number, credential));

/** Returns the group created for a credential. Ignores the name in the request. */
export const createdGroupBody = (credential: number): Buffer =>
  wrap({ ...group(GROUPS + credential, credential), name: 'Made by the benchmark' });

/** Returns a credential's statistics per day, newest first and without an envelope, like the service. */
export function statsBody(credential: number, days: number): Buffer {
  const last = Date.UTC(2026, 5, 30);
  const workflows = Array.from({ length: WORKFLOWS_IN_STATS }, (_, index) =>
    workflowId((credential + index * STATS_STRIDE) % POPULATION),
  );
  const entries = Array.from({ length: days }, (_, day) => ({
    _id: new Date(last - day * 86_400_000).toISOString().slice(0, 10),
    count: 1_000 + day,
    templates: [0, 1, 2].map((offset) => workflows[(day + offset) % WORKFLOWS_IN_STATS]),
    channels: ['email', 'in_app'],
  }));
  return Buffer.from(JSON.stringify(entries));
}

/** Returns the subscriber created for a credential. Ignores the fields in the request. */
export const subscriberBody = (credential: number): Buffer => {
  const id = idOf('subscriber record', credential);
  return wrap({
    _id: id,
    id,
    subscriberId: subscriberId(credential),
    firstName: 'Ada',
    lastName: 'Example',
    email: 'ada@example.com',
    channels: [],
    _organizationId: ORGANIZATION,
    _environmentId: environmentId(credential),
    deleted: false,
    createdAt: CREATED,
    updatedAt: CREATED,
    __v: 0,
  });
};
