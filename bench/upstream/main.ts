import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorizationOf, GROUPS, groupId, POPULATION, workflowId } from '../ids.ts';
import { createdGroupBody, groupBody, groupsBody, statsBody, subscriberBody, workflowBody } from './bodies.ts';
import { DEFAULT_SETTINGS, type UpstreamSettings } from './settings.ts';

// Responds to every call of the workloads with a prepared body, and counts the calls. Runs in a separate process, because the benchmark
// measures the subject between it and the load.
let settings: UpstreamSettings = DEFAULT_SETTINGS;
let requests = 0;
let bodies = new Map<string, Buffer>();

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
    return workflowBody(workflow, settings.workflowBytes);
  }
  const credential = credentialNumbers.get(authorization) ?? 0;
  const group = groupNumbers.get(path);
  if (method === 'GET' && group !== undefined) {
    return groupBody(group, credential);
  }
  switch (`${method} ${path}`) {
    case `GET ${NOTIFICATION_GROUPS}`:
      return groupsBody(credential, settings.groups);
    case `POST ${NOTIFICATION_GROUPS}`:
      return createdGroupBody(credential);
    case 'POST /v1/subscribers':
      return subscriberBody(credential);
    case 'GET /v1/notifications/graph/stats?days=30':
      return statsBody(credential, 30);
  }
  return undefined;
}

function respond(method: string, path: string, authorization: string, response: ServerResponse): void {
  // A workflow is the same for every credential; everything else belongs to the credential's environment.
  const key =
    path.startsWith(WORKFLOWS) || path.startsWith(TWINS) ? `${method} ${path}` : `${method} ${path} ${authorization}`;
  const body = bodies.get(key) ?? makeBody(method, path, authorization);
  if (body === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"statusCode":404,"message":"no such path"}');
    return;
  }
  bodies.set(key, body);
  response.writeHead(method === 'POST' ? 201 : 200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.byteLength,
  });
  response.end(body);
}

const server = createServer({ keepAliveTimeout: 600_000 }, ({ method = '', url = '', headers }, response) => {
  const { authorization = '' } = headers;
  requests += 1;
  if (!authorization.startsWith('ApiKey ')) {
    response.writeHead(401).end(); // The subject doesn't pass on its caller's credential.
  } else if (settings.latencyMs > 0) {
    setTimeout(respond, settings.latencyMs, method, url, authorization, response);
  } else {
    respond(method, url, authorization, response);
  }
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});

process.on('message', (message: UpstreamSettings | 'count') => {
  if (message !== 'count') {
    settings = message;
    bodies = new Map();
  }
  process.send?.(requests);
});
process.on('disconnect', () => process.exit());
