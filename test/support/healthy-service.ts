import type { NotificationGroupBody, SubscriberBody, WorkflowBody } from '../../src/upstream/endpoints.ts';
import { openContract } from './contract.ts';
import { feed, group, subscriber, workflow } from './records.ts';
import type { Script, ServiceRequest, ServiceResponse } from './service.ts';

/** Members of records that differ from the defaults. */
interface Records {
  workflow?: Partial<WorkflowBody>;
  group?: Partial<NotificationGroupBody>;
  subscriber?: Partial<SubscriberBody>;
  /** Ids of the groups in the list. @default g1 */
  groupIds?: readonly string[];
  /** Number of notifications of a day. */
  count?: number;
}

type Target = Pick<ServiceRequest, 'method' | 'path'>;

function findResponse({ method, path }: Target, records: Records): ServiceResponse | undefined {
  const [, , noun = '', segment = ''] = path.split(/[/?]/);
  const id = decodeURIComponent(segment);
  switch (`${method} ${noun}`) {
    case 'GET workflows':
    case 'PUT workflows': {
      const triggers = [{ identifier: 'w', variables: [{ name: 'city' }] }];
      return { body: { data: workflow({ _id: id, triggers, ...records.workflow }) } };
    }
    case 'GET notification-groups':
    case 'PATCH notification-groups': {
      const groupOf = (_id: string) => group({ _id, ...records.group });
      return { body: { data: id === '' ? (records.groupIds ?? ['g1']).map(groupOf) : groupOf(id) } };
    }
    case 'POST notification-groups':
      return { status: 201, body: { data: group(records.group) } };
    case 'DELETE notification-groups':
      return { body: { data: { acknowledged: true, status: 'deleted' } } };
    case 'GET notifications': {
      const { count = 3 } = records;
      return { body: [{ _id: '2026-01-02', count, templates: ['w1', 'w2'], channels: ['email'] }] };
    }
    case 'POST subscribers':
      return segment === '' ? { status: 201, body: { data: subscriber(records.subscriber) } } : undefined;
    case 'POST feeds':
      return { status: 201, body: { data: feed() } };
    case 'DELETE feeds':
      return { body: { data: [feed()] } };
    case 'DELETE messages':
      return segment === 'transaction' ? { status: 204 } : undefined;
    default:
      return undefined;
  }
}

/** Responds to a request with success, as a healthy service; with an empty list, if only modules send such a request. */
export const healthyResponse = (request: Target, records: Records = {}): ServiceResponse =>
  findResponse(request, records) ?? { body: [] };

/** Script of a service that responds to every request with success, also to those of modules. */
export const healthyService: Script = (request) =>
  findResponse(request, { groupIds: ['g1', 'g2'] }) ?? exampleOf(request);

/** Read once per process. */
let contract: ReturnType<typeof openContract> | undefined;

/** Returns the example of the OpenAPI document. */
async function exampleOf({ method, path }: Target): Promise<ServiceResponse> {
  contract ??= openContract();
  const api = await contract;
  const operation = api.matchOperation({ method, path, headers: {} });
  if (operation?.operationId === undefined || operation.responses === undefined) {
    return { status: 404, body: { message: 'unknown path' } };
  }
  const { status, mock } = api.mockResponseForOperation(operation.operationId);
  return { status, body: mock };
}
