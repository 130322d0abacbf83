import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import { type Fault, type FaultRates, pickFault } from './fault-rates.ts';
import { digestOf, type Ledger } from './ledger.ts';

export const GROUPS = Array.from({ length: 20 }, (_, i) => group({ _id: `g${i}`, name: `Group ${i}` }));
export const WORKFLOWS = Array.from({ length: 50 }, (_, i) =>
  workflow({ _id: `w${i}`, name: `Workflow ${i}`, _notificationGroupId: `g${i % 20}`, tags: ['soak'] }),
);
/** Statistics with one workflow per day, so that each failed workflow leads to one error. */
const STATS = Array.from({ length: 4 }, (_, i) => ({
  _id: `2026-01-0${i + 1}`,
  count: i,
  templates: [`w${i}`],
  channels: ['email', 'in_app'],
}));

/** Requests that arrived since the last count. */
export interface Traffic {
  requests: number;
  /** Distinct calls: requests with the same request id, method, path and body count once. */
  calls: number;
}

/** Fast in-memory upstream with configurable faults. */
export interface SoakUpstream extends AsyncDisposable {
  readonly url: string;
  /** Number of open connections. */
  readonly sockets: number;
  /** Number of requests that arrived so far. */
  readonly arrived: number;
  setFaultRates(rates: FaultRates): void;
  /** Returns the traffic since the last call and resets the count. */
  countTraffic(): Traffic;
  /** Stops listening and closes all connections. */
  stopListening(): Promise<void>;
  /** Listens again on the same port. */
  resumeListening(): Promise<void>;
}

export async function startSoakUpstream(ledger: Ledger, random: () => number): Promise<SoakUpstream> {
  const sockets = new Set<Socket>();
  let faultRates: FaultRates = {};
  let arrived = 0;
  let counted = 0;
  let calls = new Set<string>();

  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) {
      return; // The gateway has disconnected.
    }
    arrived += 1;
    const { method = '', url: path = '', headers } = request;
    calls.add(`${headers['x-request-id']} ${method} ${path} ${digestOf(body)}`);
    const fault = pickFault(faultRates, random());
    if (method !== 'GET' && method !== 'HEAD') {
      // A request that fails may or may not have been applied.
      const isApplied = fault === undefined || fault === 'slow' || fault === 'truncated' || random() < 0.5;
      ledger.recordWrite({ method, path, idempotencyKey: headers['idempotency-key']?.toString(), isApplied }, body);
    }
    await sendResponse(request, response, createResponse(method, path, body), fault);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  async function listen(port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
    await promise;
    server.off('error', reject);
  }

  async function stopListening(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }

  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('The upstream has no port.');
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    get sockets() {
      return sockets.size;
    },
    get arrived() {
      return arrived;
    },
    setFaultRates(next) {
      faultRates = next;
    },
    countTraffic() {
      const traffic = { requests: arrived - counted, calls: calls.size };
      counted = arrived;
      calls = new Set();
      return traffic;
    },
    stopListening,
    resumeListening: () => listen(address.port),
    [Symbol.asyncDispose]: stopListening,
  };
}

interface UpstreamResponse {
  status: number;
  body?: unknown;
}

function createResponse(method: string, path: string, body: string): UpstreamResponse {
  const [, , noun = '', id = ''] = path.split(/[/?]/);
  const fields: { name?: string; subscriberId?: string; active?: boolean } = body === '' ? {} : JSON.parse(body);
  const name = fields.name ?? 'none';
  switch (`${method} ${noun}`) {
    case 'GET workflows':
      return found(WORKFLOWS.find(({ _id }) => _id === id));
    case 'PUT workflows':
      return found(workflow({ _id: id, active: fields.active ?? true }));
    case 'GET notification-groups':
      return found(id === '' ? GROUPS : GROUPS.find(({ _id }) => _id === id));
    case 'POST notification-groups':
      return { status: 201, body: { data: group({ _id: `of-${name}`, name }) } };
    case 'PATCH notification-groups':
      return found(group({ _id: id, name }));
    case 'DELETE notification-groups':
      return found({ acknowledged: true, status: 'deleted' });
    case 'POST feeds':
      return { status: 201, body: { data: feed({ name, identifier: name }) } };
    case 'DELETE feeds':
      return found([feed()]);
    case 'DELETE messages':
      return { status: 204 };
    case 'POST subscribers':
      return { status: 201, body: { data: subscriber({ subscriberId: fields.subscriberId ?? 'none' }) } };
    case 'GET notifications':
      return found(STATS);
    default:
      return { status: 404, body: { statusCode: 404, message: 'Unknown.' } };
  }
}

const found = (data: unknown): UpstreamResponse =>
  data === undefined
    ? { status: 404, body: { statusCode: 404, message: 'Unknown.' } }
    : { status: 200, body: { data } };

async function sendResponse(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, body }: UpstreamResponse,
  fault: Fault | undefined,
): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  switch (fault) {
    case '503':
    case '504':
      response.writeHead(Number(fault), headers).end(JSON.stringify({ statusCode: Number(fault), message: 'Down.' }));
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'truncated':
      response.writeHead(200, { ...headers, 'content-length': 1_000 }).write('{"data":');
      await sleep(1);
      socket.destroy();
      return;
    case 'slow':
      await sleep(500);
  }
  if (body === undefined) {
    response.writeHead(status).end();
  } else {
    response.writeHead(status, headers).end(JSON.stringify(body));
  }
}
