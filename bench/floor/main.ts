// The floor: a hand-written proxy only for the workloads, without GraphQL, limits, retries or logs. It accepts the same variables, makes
// the same upstream calls, selects the same fields and returns the same JSON as the gateway. With `LEAN`, it uses events only.

import { createServer, type IncomingMessage } from 'node:http';
import { Pool } from 'undici';
import type { Envelope, NotificationGroup, StatisticsEntry, Workflow } from '../upstream/records.ts';

const { PORT = '0', UPSTREAM = '', LEAN } = process.env;
const upstream = new Pool(UPSTREAM, { connections: 64, pipelining: 1 });

interface Variables {
  id: string;
  ids: string[];
  days: number;
  input: { name: string; subscribers: object[] };
}

type Handler = (variables: Variables, authorization: string) => Promise<unknown>;

const requestOf = (authorization: string, path: string, body?: object) =>
  ({
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  }) as const;

async function callWithPromises(authorization: string, path: string, body?: object): Promise<unknown> {
  const response = await upstream.request(requestOf(authorization, path, body));
  if (response.statusCode > 299) {
    throw new Error(`${path} responded with ${response.statusCode}`);
  }
  return JSON.parse(await response.body.text());
}

const callWithEvents: typeof callWithPromises = (authorization, path, body) =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    upstream.dispatch(requestOf(authorization, path, body), {
      onRequestStart() {}, // Required.
      onResponseStart(_controller, statusCode) {
        if (statusCode > 299) {
          reject(new Error(`${path} responded with ${statusCode}`));
        }
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))),
      onResponseError: (_controller, error) => reject(error),
    });
  });

const send = LEAN === undefined ? callWithPromises : callWithEvents;

const call = <T>(...request: Parameters<typeof send>) => send(...request) as Promise<T>; // The canned upstream's bodies are known.

const getWorkflow = async (authorization: string, id: string) =>
  (await call<Envelope<Workflow>>(authorization, `/v1/workflows/${encodeURIComponent(id)}`)).data;

const listGroups = async (authorization: string) =>
  (await call<Envelope<NotificationGroup[]>>(authorization, '/v1/notification-groups')).data;

const HANDLERS: Record<string, Handler> = {
  async '/q1'({ id }, authorization) {
    const { name, active, tags, steps } = await getWorkflow(authorization, id);
    return {
      workflow: {
        name,
        active,
        tags,
        steps: steps.map(({ name, active, template: { type, content, subject } }) => ({
          name,
          active,
          template: { type, content, subject },
        })),
      },
    };
  },
  async '/q2'(_variables, authorization) {
    const groups = await listGroups(authorization);
    return { notificationGroups: groups.map(({ name }) => ({ name })) };
  },
  async '/q3'({ ids }, authorization) {
    const workflows = await Promise.all(ids.map((id) => getWorkflow(authorization, id)));
    const names = new Map((await listGroups(authorization)).map(({ _id, name }) => [_id, name]));
    return {
      workflows: workflows.map(({ name, _notificationGroupId }) => ({
        name,
        notificationGroup: { name: names.get(_notificationGroupId) },
      })),
    };
  },
  async '/q4'({ days }, authorization) {
    const entries = await call<StatisticsEntry[]>(authorization, `/v1/notifications/graph/stats?days=${days}`);
    const ids = [...new Set(entries.flatMap(({ templates }) => templates))];
    const workflows = await Promise.all(ids.map((id) => getWorkflow(authorization, id)));
    const names = new Map(workflows.map(({ name }, index) => [ids[index], name]));
    entries.sort((a, b) => (a._id < b._id ? -1 : 1));
    return {
      notificationStats: entries.map(({ _id, count, channels, templates }) => ({
        date: _id,
        count,
        channels: channels.map((channel) => channel.toUpperCase()),
        workflows: templates.map((id) => ({ name: names.get(id) })),
      })),
    };
  },
  async '/m1'({ input: { name } }, authorization) {
    const { data } = await call<Envelope<NotificationGroup>>(authorization, '/v1/notification-groups', { name });
    return { createNotificationGroup: { notificationGroup: { id: data._id, name: data.name } } };
  },
  async '/b1'({ input: { subscribers } }, authorization) {
    const results = [];
    for (const subscriber of subscribers) {
      const { data } = await call<{ data: { subscriberId: string } }>(authorization, '/v1/subscribers', subscriber);
      results.push({ subscriber: { subscriberId: data.subscriberId } });
    }
    return { createSubscribers: { succeeded: results.length, results } };
  },
};

async function readWithPromises(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

const readWithEvents: typeof readWithPromises = (request) =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
    request.on('error', reject);
  });

const readJson = LEAN === undefined ? readWithPromises : readWithEvents;

createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  try {
    const handler = HANDLERS[request.url ?? ''];
    const { variables = {} } = (await readJson(request)) as { variables?: Partial<Variables> };
    const data = await handler?.(variables as Variables, request.headers.authorization ?? '');
    const text = JSON.stringify({ data });
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
