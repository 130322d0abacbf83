// Responses of a service on which every request succeeds: those that the contract has as examples, with the ids of the request.

import { matchRequest, sortByPrecedence } from '../../packages/testing/src/endpoints.ts';
import type { NotificationGroupBody, WorkflowBody } from '../../src/upstream/endpoints.ts';
import { openContract } from './contract.ts';
import type { Script, ServiceRequest, ServiceResponse } from './service.ts';

/** Members of records that differ from the examples. */
interface Records {
  workflow?: Partial<WorkflowBody>;
  group?: Partial<NotificationGroupBody>;
  /** Members of a subscriber, by their names in the contract. */
  subscriber?: object;
  /** Ids of the groups in the list. @default g1 */
  groupIds?: readonly string[];
  /** Number of notifications of a day. */
  count?: number;
}

const contract = await openContract();

/** Successful responses by method and path. Those of operations of modules that the contract doesn't describe have an empty object. */
const EXAMPLES = new Map(
  contract.router
    .getOperations()
    .map(({ operationId = '', method, path }) => [
      `${method.toUpperCase()} ${path}`,
      contract.mockResponseForOperation(operationId),
    ]),
);

const ENDPOINTS = sortByPrecedence([...EXAMPLES.keys()]);

/** Returns the response to a request: the example of the contract, with changes. */
export function healthyResponse(
  { method, path }: Pick<ServiceRequest, 'method' | 'path'>,
  { workflow, group, subscriber, groupIds = ['g1'], count }: Records = {},
): ServiceResponse {
  const { endpoint, params } = matchRequest(method, path, ENDPOINTS);
  const { status, mock: body } = EXAMPLES.get(endpoint) ?? { status: 404, mock: { message: 'unknown path' } };
  const withData = (changes: object) => ({ status, body: { ...body, data: { ...body.data, ...changes } } });
  const [_id] = Object.values(params);
  switch (endpoint) {
    case 'GET /v1/workflows/{workflowIdOrIdentifier}':
    case 'PUT /v1/workflows/{workflowId}/status':
      return withData({ _id, ...workflow });
    case 'GET /v1/notification-groups':
      return { body: { data: groupIds.map((id) => ({ ...body.data[0], _id: id, ...group })) } };
    case 'GET /v1/notification-groups/{id}':
    case 'PATCH /v1/notification-groups/{id}':
      return withData({ _id, ...group });
    case 'POST /v1/notification-groups':
      return withData({ ...group });
    case 'POST /v1/subscribers':
      return withData({ ...subscriber });
    case 'GET /v1/notifications/graph/stats':
      return { body: [{ ...body[0], ...(count !== undefined && { count }) }] };
    default:
      return status === 204 ? { status } : { status, body };
  }
}

/** Script of a service that responds to every request with success, also to those of modules. */
export const healthyService: Script = (request) => healthyResponse(request, { groupIds: ['g1', 'g2'] });
