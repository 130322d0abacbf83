import type { SubjectRequest } from './subjects.ts';
import { VARIABLES, type Workload } from './workloads.ts';

/** A request as it goes over the wire. */
export interface Outgoing {
  /** Answers of the same kind are equally long. */
  kind: string;
  bytes: Buffer;
}

const pathOf = ({ path = '/graphql' }: SubjectRequest): string => path;

const headersFor = ({ authorization }: SubjectRequest, credential: number): Record<string, string> => ({
  'content-type': 'application/json',
  authorization: authorization?.(credential) ?? `ApiKey bench-key-${credential}`,
});

const bodyOf = (workload: Workload, { query, variables = VARIABLES[workload.name] }: SubjectRequest): string =>
  JSON.stringify({ ...(query !== undefined && { query }), variables });

/** Asks once. @returns the answer's `data`, as the floor would put it */
export async function askOnce(url: string, workload: Workload, request: SubjectRequest): Promise<unknown> {
  const response = await fetch(url + pathOf(request), {
    method: 'POST',
    headers: headersFor(request, 0),
    body: bodyOf(workload, request),
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`answered ${response.status}: ${text.slice(0, 500)}`);
  }
  const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (errors !== undefined) {
    throw new Error(`answered errors: ${JSON.stringify(errors).slice(0, 500)}`);
  }
  return request.normalize === undefined ? data : request.normalize(data as never);
}

/** A workload's request with the credential of so many, as it goes over the wire. */
export function createOutgoing(url: string, workload: Workload, request: SubjectRequest, credential: number): Outgoing {
  const body = bodyOf(workload, request);
  const headers = {
    host: new URL(url).host,
    ...headersFor(request, credential),
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    kind: workload.name,
    bytes: Buffer.from(`POST ${pathOf(request)} HTTP/1.1\r\n${lines.join('')}\r\n${body}`),
  };
}

/** A workload's requests: from each connection with the credential that it has there. */
export function createRequests(
  url: string,
  workload: Workload,
  request: SubjectRequest,
  connections = workload.connections,
): (index: number, connection: number) => Outgoing {
  const shared = createOutgoing(url, workload, request, 0);
  const own = Array.from({ length: workload.ownCredentials ? connections : 0 }, (_, connection) =>
    createOutgoing(url, workload, request, connection),
  );
  return (_index, connection) => own[connection] ?? shared;
}
