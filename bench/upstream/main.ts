import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createdGroupBody, groupBody, groupsBody, statsBody, subscriberBody, workflowBody } from './bodies.ts';
import { DEFAULT_SETTINGS, type UpstreamReport, type UpstreamSettings } from './settings.ts';

/**
 * A process of its own that answers every call of the workloads with a body made beforehand, counts the calls, and does nothing else:
 * what is measured is the subject between it and the load.
 */
let settings: UpstreamSettings = DEFAULT_SETTINGS;
let requests = 0;
let bodies = new Map<string, Buffer>();

const makeBody = (method: string, path: string): Buffer | undefined => {
  const workflow = /^\/v1\/workflows\/([\w-]+)$/.exec(path)?.[1];
  if (method === 'GET' && workflow !== undefined) {
    return workflowBody(workflow, settings.workflowBytes);
  }
  const group = /^\/v1\/notification-groups\/group-(\d+)$/.exec(path)?.[1];
  if (method === 'GET' && group !== undefined) {
    return groupBody(Number(group));
  }
  switch (`${method} ${path}`) {
    case 'GET /v1/notification-groups':
      return groupsBody(settings.groups);
    case 'POST /v1/notification-groups':
      return createdGroupBody();
    case 'POST /v1/subscribers':
      return subscriberBody();
    case 'GET /v1/notifications/graph/stats?days=30':
      return statsBody(30);
  }
  return undefined;
};

function answer(method: string, path: string, response: ServerResponse): void {
  const key = `${method} ${path}`;
  const body = bodies.get(key) ?? makeBody(method, path);
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

const server = createServer({ keepAliveTimeout: 60_000 }, ({ method = '', url = '' }, response) => {
  requests += 1;
  if (settings.latencyMs > 0) {
    setTimeout(answer, settings.latencyMs, method, url, response);
  } else {
    answer(method, url, response);
  }
});

const report = (message: UpstreamReport) => process.send?.(message);

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  report({ kind: 'listening', url: `http://127.0.0.1:${port}` });
});

process.on('message', (message: UpstreamSettings | 'count') => {
  if (message !== 'count') {
    settings = message;
    bodies = new Map();
  }
  report({ kind: 'requests', requests });
});
process.on('disconnect', () => process.exit());
