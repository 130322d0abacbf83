/**
 * Checks that the peers' responses equal the floor's byte for byte, and that their calls carry the caller's credential:
 * `node bench/peers/verify.ts [name…]`. Prints one line per peer and workload, and fails if a response differs.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { authorizationOf } from '../ids.ts';
import { type RunningSubject, startSubject, startUpstream } from '../processes.ts';
import { comparedNumbers, sendOnce } from '../requests.ts';
import { FLOOR, type Subject, type SubjectRequest } from '../subjects.ts';
import { WORKLOADS, type Workload } from '../workloads.ts';
import { PEERS } from './index.ts';

interface Observation {
  data: unknown;
  /** Upstream calls, for example `GET /v1/…`. */
  calls: string[];
  /** Upstream calls with another credential, or none. */
  wrongCredentials: string[];
}

/** Requests forwarded to the upstream since the array was last emptied. */
const recorded: { call: string; authorization: string | undefined }[] = [];

/** Starts a proxy that forwards requests to the upstream and records them. */
async function startRecorder(upstream: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    recorded.push({ call: `${method} ${url}`, authorization: headers.authorization });
    const outgoing = request(upstream + url, { method, headers }, (forwarded) => {
      response.writeHead(forwarded.statusCode ?? 502, forwarded.headers);
      pipeline(forwarded, response, () => {});
    });
    pipeline(incoming, outgoing, () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // Listens on a port, not on a pipe.
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function start(subject: Subject, upstream: string, folder: string): Promise<RunningSubject> {
  const [workload] = workloadsOf(subject);
  return startSubject(subject, upstream, folder, async (url) => {
    try {
      await (workload !== undefined && sendOnce(url, ...workload));
      return true;
    } catch (error) {
      // Any response means that it is listening. Wrong ones are reported later, with the others.
      return !String(error).includes('fetch failed');
    }
  });
}

const workloadsOf = ({ requests }: Subject): [Workload, SubjectRequest][] =>
  Object.values(WORKLOADS).flatMap((workload) => {
    const request = requests[workload.name];
    return request === undefined ? [] : [[workload, request]];
  });

async function observe(url: string, workload: Workload, request: SubjectRequest, number: number): Promise<Observation> {
  recorded.length = 0;
  const data = await sendOnce(url, workload, request, number);
  const own = authorizationOf(number);
  return {
    data,
    calls: recorded.map(({ call }) => call),
    wrongCredentials: recorded.filter(({ authorization }) => authorization !== own).map(({ call }) => call),
  };
}

/** Compares a result with the floor's. @returns a message; undefined if they are equal */
function findFault(actual: Observation, expected: Observation): string | undefined {
  if (actual.wrongCredentials.length > 0) {
    return `called without the caller's credential: ${actual.wrongCredentials.join(', ')}`;
  }
  const [text, expectedText] = [JSON.stringify(actual.data), JSON.stringify(expected.data)];
  if (!isDeepStrictEqual(actual.data, expected.data) || text !== expectedText) {
    return `differs:\n  ${text?.slice(0, 400)}\n  ${expectedText?.slice(0, 400)}`;
  }
  return undefined;
}

async function verify(subject: Subject, floor: RunningSubject, upstream: string, folder: string): Promise<boolean> {
  const obstacle = await subject.findObstacle?.();
  if (obstacle !== undefined) {
    console.log(`${subject.name} skipped: ${obstacle}`);
    return true;
  }
  await using running = await start(subject, upstream, folder);
  console.log(`${subject.name} started in ${Math.round(running.startMs)} ms`);
  let isRight = true;
  for (const [workload, request] of workloadsOf(subject)) {
    for (const number of comparedNumbers(workload)) {
      const expected = await observe(floor.url, workload, FLOOR.requests[workload.name] ?? {}, number);
      let fault: string | undefined;
      let calls = 0;
      try {
        const actual = await observe(running.url, workload, request, number);
        fault = findFault(actual, expected);
        calls = actual.calls.length;
      } catch (error) {
        fault = `fails: ${String(error)}`;
      }
      isRight &&= fault === undefined;
      const outcome = `${fault ?? 'ok'} (${calls} calls, the floor ${expected.calls.length})`;
      console.log(`${subject.name} ${workload.name} with caller ${number} ${outcome}`);
    }
  }
  for (const { name } of Object.values(WORKLOADS).filter(({ name }) => subject.requests[name] === undefined)) {
    console.log(`${subject.name} ${name} left out`);
  }
  return isRight;
}

const names = process.argv.slice(2);
const subjects = PEERS.filter(({ name }) => names.length === 0 || names.includes(name));
if (subjects.length < names.length) {
  throw new Error(`Unknown peer. Use ${PEERS.map(({ name }) => name).join(', ')}.`);
}

const folder = await mkdtemp(join(tmpdir(), 'notigraph-peers-'));
try {
  await using upstream = await startUpstream();
  await using recorder = await startRecorder(upstream.url);
  await using floor = await start(FLOOR, recorder.url, folder);
  for (const subject of subjects) {
    if (!(await verify(subject, floor, recorder.url, folder))) {
      process.exitCode = 1;
    }
  }
} finally {
  await rm(folder, { recursive: true });
}
