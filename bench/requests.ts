// Creates the requests of a workload, and sends single ones.

import { authorizationOf } from './ids.ts';
import type { Subject, SubjectRequest } from './subjects.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/** Request as it is sent over the connection. */
export interface Outgoing {
  /** Responses of the same kind have the same length. */
  kind: string;
  bytes: Buffer;
}

/** Function that returns the next request. @param index number of requests sent before, @param connection index of the connection */
export type NextRequest = (index: number, connection: number) => Outgoing;

const pathOf = ({ path = '/graphql' }: SubjectRequest): string => path;

const headersFor = (credential: number) => ({
  'content-type': 'application/json',
  authorization: authorizationOf(credential),
});

const bodyOf = (
  { nextDocument, ...workload }: Workload,
  { query, variables = workload.variables }: SubjectRequest,
  number: number,
): string => {
  const document = nextDocument?.() ?? query;
  return JSON.stringify({ ...(document !== undefined && { query: document }), variables: variables(number) });
};

/** Sends one request. @returns the response's `data`, in the floor's form */
export async function sendOnce(url: string, workload: Workload, request: SubjectRequest, number = 0): Promise<unknown> {
  const response = await fetch(url + pathOf(request), {
    method: 'POST',
    headers: headersFor(number),
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

/** Returns the head of a request without its length, which `requestBody` adds. */
function requestHead(url: string, request: SubjectRequest, credential: number): Buffer {
  const headers = Object.entries({ host: new URL(url).host, ...headersFor(credential) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathOf(request)} HTTP/1.1\r\n${lines.join('')}`);
}

/** Returns the rest of a request: the length of its body, and the body. */
const requestBody = (body: string): Buffer => Buffer.from(`content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/** Returns a function that creates the next request of a workload. Heads and bodies are created once per credential and number. */
export function createRequests(url: string, subject: Subject, workload: Workload): NextRequest {
  if (workload.mix !== undefined) {
    return createMix(url, subject, workload.mix);
  }
  const request = subject.requests[workload.name] ?? {};
  const heads: Buffer[] = [];
  const bodies: Buffer[] = [];
  return (index, connection) => {
    const { credential, number } = workload.callerOf(index, connection);
    heads[credential] ??= requestHead(url, request, credential);
    const prepared = workload.nextDocument === undefined ? bodies[number] : undefined;
    const body = prepared ?? requestBody(bodyOf(workload, request, number));
    bodies[number] = body;
    return { kind: workload.name, bytes: Buffer.concat([heads[credential], body]) };
  };
}

/** Returns a function that creates mixed requests, always in the same order and with the kinds spread evenly. */
function createMix(url: string, subject: Subject, mix: NonNullable<Workload['mix']>): NextRequest {
  const kinds = mix.flatMap(([name, share]) =>
    Array<NextRequest>(share).fill(createRequests(url, subject, WORKLOADS[name])),
  );
  return (index, connection) => {
    const next = kinds[(index * 37) % kinds.length];
    if (next === undefined) {
      throw new Error('The mix is empty.');
    }
    return next(index, connection);
  };
}
