import { authorizationOf, FIRST_DIGIT_RUN, POPULATION } from './ids.ts';
import type { SubjectRequest } from './subjects.ts';
import { VARIABLES, type Workload } from './workloads.ts';

/** Request as it is sent over the connection. */
export interface Outgoing {
  /** Responses of the same kind have the same length. */
  kind: string;
  bytes: Buffer;
}

/** Credential of a request, and the number from which its variables are created. */
export interface Caller {
  credential: number;
  number: number;
}

/** Number of credentials that request the hot workflows: with 257 workflows, 1,028 pairs that each repeat several times per second. */
const HOT_CREDENTIALS = 4;

const pathOf = ({ path = '/graphql' }: SubjectRequest): string => path;

const headersFor = ({ authorization = authorizationOf }: SubjectRequest, credential: number) => ({
  'content-type': 'application/json',
  authorization: authorization(credential),
});

const bodyOf = ({ name }: Workload, { query, variables = VARIABLES[name] }: SubjectRequest, number: number): string =>
  JSON.stringify({ ...(query !== undefined && { query }), variables: variables(number) });

/** Returns the numbers of the requests whose responses are compared. If requests rotate, one has ids with a run of digits. */
export const comparedNumbers = ({ callers }: Workload): number[] =>
  callers === 'rotating' || callers === 'hot' ? [0, FIRST_DIGIT_RUN] : [0];

/** Sends one request. @returns the response's `data`, in the floor's form */
export async function sendOnce(url: string, workload: Workload, request: SubjectRequest, number = 0): Promise<unknown> {
  const response = await fetch(url + pathOf(request), {
    method: 'POST',
    headers: headersFor(request, number),
    body: bodyOf(workload, request, number),
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`responded with ${response.status}: ${text.slice(0, 500)}`);
  }
  const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (errors !== undefined) {
    throw new Error(`responded with errors: ${JSON.stringify(errors).slice(0, 500)}`);
  }
  return request.normalize === undefined ? data : request.normalize(data as never);
}

/**
 * Returns the caller of a workload's request.
 * @param index number of requests sent before, @param connection index of the connection
 */
function callerOf({ callers }: Workload, index: number, connection: number): Caller {
  switch (callers) {
    case 'rotating':
      // Shifted by one on each lap, so that each credential requests every id in turn.
      return { credential: index % POPULATION, number: (index + Math.floor(index / POPULATION)) % POPULATION };
    case 'hot':
      return { credential: index % HOT_CREDENTIALS, number: index % POPULATION };
    case 'per connection':
      return { credential: connection, number: 0 };
    case 'shared':
      return { credential: 0, number: 0 };
  }
}

/** Returns the head of a request without its length, which `requestBody` adds. */
export function requestHead(url: string, request: SubjectRequest, credential: number): Buffer {
  const headers = Object.entries({ host: new URL(url).host, ...headersFor(request, credential) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathOf(request)} HTTP/1.1\r\n${lines.join('')}`);
}

/** Returns the rest of a request: the length of its body, and the body. */
export const requestBody = (body: string): Buffer =>
  Buffer.from(`content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/**
 * Returns a function that creates the next request of a workload. Heads and bodies are created once per credential and number.
 * @param choose returns the caller of a request. @default the workload's callers
 */
export function createRequests(
  url: string,
  workload: Workload,
  request: SubjectRequest,
  choose: (index: number, connection: number) => Caller = (...sent) => callerOf(workload, ...sent),
): (index: number, connection: number) => Outgoing {
  const heads: Buffer[] = [];
  const bodies: Buffer[] = [];

  return (index, connection) => {
    const { credential, number } = choose(index, connection);
    heads[credential] ??= requestHead(url, request, credential);
    bodies[number] ??= requestBody(bodyOf(workload, request, number));
    return { kind: workload.name, bytes: Buffer.concat([heads[credential], bodies[number]]) };
  };
}
