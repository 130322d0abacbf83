// Bodies of the canned upstream, in the form and size of the service's. Bodies of one kind have the same length.

import { readFileSync } from 'node:fs';
import {
  environmentId,
  GROUPS,
  groupId,
  groupOfWorkflow,
  idOf,
  POPULATION,
  padded,
  subscriberId,
  workflowId,
} from '../ids.ts';

/** Size of a workflow with five steps, in bytes, as services send it. */
const WORKFLOW_BYTES = 8 * 1024;

const STEP_TYPES = ['in_app', 'email', 'sms', 'chat', 'push'];
/** Id of the organization that all records belong to. */
const ORGANIZATION = idOf('organization', 0);
/** Creation time of all records. */
const CREATED = '2026-01-15T09:30:00.000Z';

/** Workflow and step as the service sends them, with names after `$` for ids and numbers. */
const TEMPLATES: { workflow: object; step: { template: { content: string } } } = JSON.parse(
  readFileSync(new URL('workflow.json', import.meta.url), 'utf8'),
);

/** Wraps data in the service's envelope. */
const wrap = (data: unknown): Buffer => Buffer.from(JSON.stringify({ data }));

/** Returns a workflow with five steps, whose contents are repeated to reach the size. */
export function workflowBody(number: number): Buffer {
  const bare = wrap(workflow(number, 0)).byteLength;
  return wrap(workflow(number, Math.max(0, Math.round((WORKFLOW_BYTES - bare) / STEP_TYPES.length))));
}

function workflow(number: number, contentBytes: number): object {
  const { workflow, step } = TEMPLATES;
  const { content } = step.template;
  const repetitions = Math.max(1, Math.round(contentBytes / (JSON.stringify(content).length - 2)));
  const steps = STEP_TYPES.map((type, index) => {
    const template = { ...step.template, type, content: content.repeat(repetitions) };
    return JSON.parse(JSON.stringify({ ...step, active: index !== 3, template }).replaceAll('$index', String(index)));
  });
  const ids: Readonly<Record<string, string>> = {
    workflow: workflowId(number),
    group: groupId(groupOfWorkflow(number)),
    organization: ORGANIZATION,
    environment: environmentId(0), // Without a run of digits, so that only the workflows' ids decide about that.
    creator: idOf('user', 0),
  };
  const text = JSON.stringify({ ...workflow, steps }).replaceAll('$number', padded(number));
  return JSON.parse(text.replace(/"\$([\w ]+)"/g, (_, kind: string) => `"${ids[kind] ?? idOf(kind, number)}"`));
}

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
export const groupsBody = (credential: number): Buffer =>
  wrap(Array.from({ length: GROUPS }, (_, number) => group(number, credential)));

/** Returns one group of a credential's environment. */
export const groupBody = (number: number, credential: number): Buffer => wrap(group(number, credential));

/** Returns the group created for a credential. Ignores the name in the request. */
export const createdGroupBody = (credential: number): Buffer =>
  wrap({ ...group(GROUPS + credential, credential), name: 'Made by the benchmark' });

/** Returns a credential's statistics of the last days, newest first and without an envelope. The gateway drops other days. */
export function statsBody(credential: number, days: number): Buffer {
  const last = Date.now();
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
