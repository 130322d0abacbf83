// Checks at startup whether the service is there.

import { errorCodeOf, orUndefined } from '../../lib/caught.ts';
import { createCredentialFilter } from '../../lib/credential-filter.ts';
import { USER_AGENT } from '../../lib/installation.ts';
import { isRecord } from '../../lib/is-record.ts';
import { isTimeoutError } from '../../lib/signal.ts';
import { ProxyError } from '../../network/connector.ts';
import { receive, type UpstreamResponse } from './attempt.ts';
import { headerOf } from './body.ts';
import { pathPrefixOf } from './encode-args.ts';
import type { SocketPool } from './socket-pool.ts';

/** Read of the contract that takes no parameters. */
const ROUTE = '/v1/notification-groups';

/** Maximum size of a response that is checked, in bytes. A larger one is assumed to be valid. */
const MAX_PROBE_BYTES = 1024 * 1024;

const TIMEOUT_MS = 3_000;

/**
 * Sends one read without an API key to the service, because there is none at startup. Services respond with 401.
 *
 * @param name name of the service in the sentence. @default none
 * @returns a problem as a sentence, for the operator; undefined if there is none
 */
export async function probeUpstream(baseUrl: URL, pool: SocketPool, name?: string): Promise<string | undefined> {
  const subject = name === undefined ? 'upstream' : `upstream "${name}"`;
  const path = pathPrefixOf(baseUrl) + ROUTE;
  try {
    const { response } = receive(
      pool,
      {
        origin: baseUrl.origin,
        path,
        method: 'GET',
        headers: { accept: 'application/json', 'user-agent': USER_AGENT },
      },
      { timeoutMs: TIMEOUT_MS, planBody: (status) => ({ keep: status <= 299, maxBytes: MAX_PROBE_BYTES }) },
    );
    return findProblem(await response, baseUrl, path, subject, pool);
  } catch (failure) {
    if (failure instanceof ProxyError) {
      return `The ${subject} is unreachable: ${failure.message}.`;
    }
    if (isTimeoutError(failure)) {
      return `The ${subject} did not respond in time.`;
    }
    return `The ${subject} is unreachable (${errorCodeOf(failure) ?? 'no response'}).`;
  }
}

/** Remedy for an address that isn't that of the service. */
const REMEDY = 'Set the upstream to the base address of the REST API, with its path prefix but without /v1.';

/** Returns what shows that the server is not the service. The key is missing, so any 4xx status is possible except those for unknown paths. */
function findProblem(
  { status, headers, body, exceeded }: UpstreamResponse,
  baseUrl: URL,
  path: string,
  subject: string,
  { headers: own }: SocketPool,
): string | undefined {
  if (status >= 500) {
    return `The ${subject} is failing: it responds with status ${status}.`;
  }
  if (status >= 300 && status <= 399) {
    const target = URL.parse(headerOf(headers, 'location') ?? '', baseUrl)?.origin ?? baseUrl.origin;
    const isShowable = createCredentialFilter({ credential: '', upstreamHeaders: own.secrets() });
    const place = target !== baseUrl.origin && isShowable(target) ? `to ${target}` : 'to another page';
    return `The ${subject} redirects ${place}, and redirects are not followed. ${REMEDY}`;
  }
  if (/\bhtml\b/i.test(headerOf(headers, 'content-type') ?? '')) {
    return `The ${subject} responds with HTML instead of JSON: it seems to be a website or a sign-in page. ${REMEDY}`;
  }
  if (status === 404 || status === 405 || status === 410) {
    return `The ${subject} has no ${path}: it responds with status ${status}. ${REMEDY}`;
  }
  return status <= 299 && exceeded === undefined && !hasList(body)
    ? `The response of the ${subject} to GET ${path} doesn't match the contract: it is not a list of records. ${REMEDY}`
    : undefined;
}

function hasList(body: Buffer | undefined): boolean {
  const content: unknown = orUndefined(() => JSON.parse(body?.toString('utf8') ?? ''));
  return Array.isArray(isRecord(content) ? content.data : content); // The envelope is optional.
}
