// Responds to every call of the workloads with a prepared body, and counts the calls. Runs in a separate process, because the benchmark
// measures the subject between it and the load.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceResponse, startService } from '../../test/support/service.ts';
import { authorizationOf, GROUPS, groupId, POPULATION, workflowId } from '../ids.ts';
import { createdGroupBody, groupBody, groupsBody, statsBody, subscriberBody, workflowBody } from './bodies.ts';

let latencyMs = 0;
let requests = 0;
const bodies = new Map<string, Buffer>();

const WORKFLOWS = '/v1/workflows/';
/** Path of the module's twins of workflows. */
const TWINS = '/v1/twins/';
const NOTIFICATION_GROUPS = '/v1/notification-groups';

const numbered = (count: number, nameOf: (number: number) => string): ReadonlyMap<string, number> =>
  new Map(Array.from({ length: count }, (_, number) => [nameOf(number), number]));

const workflowNumbers = numbered(POPULATION, (number) => WORKFLOWS + workflowId(number));
const groupNumbers = numbered(GROUPS, (number) => `${NOTIFICATION_GROUPS}/${groupId(number)}`);
const credentialNumbers = numbered(POPULATION, authorizationOf);

/** Creates the body of a response. @returns undefined if the path or id is unknown */
function makeBody(method: string, path: string, authorization: string): Buffer | undefined {
  const workflow = workflowNumbers.get(path.replace(TWINS, WORKFLOWS));
  if (method === 'GET' && workflow !== undefined) {
    return workflowBody(workflow);
  }
  const credential = credentialNumbers.get(authorization) ?? 0;
  const group = groupNumbers.get(path);
  if (method === 'GET' && group !== undefined) {
    return groupBody(group, credential);
  }
  switch (`${method} ${path}`) {
    case `GET ${NOTIFICATION_GROUPS}`:
      return groupsBody(credential);
    case `POST ${NOTIFICATION_GROUPS}`:
      return createdGroupBody(credential);
    case 'POST /v1/subscribers':
      return subscriberBody(credential);
    case 'GET /v1/notifications/graph/stats?days=30':
      return statsBody(credential, 30);
  }
  return undefined;
}

function respond(method: string, path: string, authorization: string): ServiceResponse {
  // A workflow is the same for every credential; everything else belongs to the credential's environment.
  const key =
    path.startsWith(WORKFLOWS) || path.startsWith(TWINS) ? `${method} ${path}` : `${method} ${path} ${authorization}`;
  const body = bodies.get(key) ?? makeBody(method, path, authorization);
  if (body === undefined) {
    return { status: 404, body: { statusCode: 404, message: 'no such path' } };
  }
  bodies.set(key, body);
  return { status: method === 'POST' ? 201 : 200, body };
}

const service = await startService(async ({ method, path, headers: { authorization = '' } }) => {
  requests += 1;
  service.forget(); // Counted, not kept.
  if (!authorization.startsWith('ApiKey ')) {
    return { status: 401 }; // The subject doesn't pass on its caller's credential.
  }
  if (latencyMs > 0) {
    await sleep(latencyMs);
  }
  return respond(method, path, authorization);
});

process.send?.(service.url);

process.on('message', (message: number | 'count') => {
  if (message !== 'count') {
    latencyMs = message;
  }
  process.send?.(requests);
});

process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
