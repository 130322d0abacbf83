// Generates the responses of services that the contract permits.

import { type Choices, createRandom } from './choices.ts';
import { healthyResponse } from './healthy-service.ts';
import { group, workflow } from './records.ts';
import type { Script, ServiceResponse } from './service.ts';

/** Behavior of a service that the contract permits. */
export interface GeneratedBehavior {
  seed: number;
  /** Whether workflows contain their group. */
  embeds: 'always' | 'never' | 'sometimes';
  /** Number of notification groups that workflows belong to. */
  groups: number;
  /** Whether the list contains the groups without their ids. */
  omitsIds: boolean;
  /** Workflows per entry of the statistics. */
  workflowsPerEntry: number;
  /** Whether it rejects the status that a workflow already has, and some workflows don't exist. */
  rejects: boolean;
}

/** Script of a healthy service whose responses depend only on the request and the behavior. */
export function generatedService(behavior: () => GeneratedBehavior): Script {
  return ({ method, path: received }) => {
    const { seed, ...options } = behavior();
    const path = received.replace(/^.*(?=\/v1\/)/, '');
    const [noun = '', id = ''] = path.slice('/v1/'.length).split(/[/?]/);
    const random = createRandom(seed, `${noun} ${decodeURIComponent(id)}`);
    if (noun === 'notifications') {
      return { body: statistics(options, random) };
    }
    if (noun === 'workflows') {
      return workflowOf(method, decodeURIComponent(id), options, random);
    }
    return method === 'GET' && id === '' ? { body: { data: listGroups(options) } } : healthyResponse({ method, path });
  };
}

type Options = Omit<GeneratedBehavior, 'seed'>;

const statistics = ({ workflowsPerEntry }: Options, random: Choices) =>
  Array.from({ length: 8 }, (_, day) => ({
    _id: `2026-01-0${day + 1}`,
    count: 1,
    channels: ['email'],
    templates: Array.from({ length: workflowsPerEntry }, () => `w${random.pick(60)}`),
  }));

const listGroups = ({ groups, omitsIds }: Options) =>
  Array.from({ length: groups }, (_, index) => ({ ...group(), _id: omitsIds ? undefined : `g${index}` }));

function workflowOf(
  method: string,
  id: string,
  { embeds, groups, rejects }: Options,
  random: Choices,
): ServiceResponse {
  if (rejects && method === 'GET' && random.oneIn(8)) {
    return { status: 404, body: { statusCode: 404, message: 'not found' } };
  }
  if (rejects && method === 'PUT') {
    return { status: 400, body: { message: 'the workflow already has this status' } };
  }
  const groupId = `g${random.pick(groups)}`;
  const isEmbedded = embeds === 'always' || (embeds === 'sometimes' && random.oneIn(2));
  return {
    body: {
      data: workflow({
        _id: id,
        active: random.oneIn(2),
        _notificationGroupId: groupId,
        ...(isEmbedded && { notificationGroup: group({ _id: groupId }) }),
      }),
    },
  };
}
