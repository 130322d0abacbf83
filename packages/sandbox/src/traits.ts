// Behaviors of real services, and of what stands in front of them, so that clients can be tested against them.

import { STATUS_CODES } from 'node:http';
import { categoryOf } from './rate-limit.ts';
import {
  bareResponse,
  dataResponse,
  emptyResponse,
  type Respond,
  type SandboxRequest,
  type SandboxResponse,
} from './response.ts';
import { isRow } from './rows.ts';

type Result = SandboxResponse | undefined;

/** Responds instead of the sandbox, or changes its response. `seen` is the trait's memory since it was switched on. */
type Trait = (request: SandboxRequest, respond: () => Promise<Result>, seen: Set<unknown>) => Result | Promise<Result>;

/** A trait that operations know themselves. */
const ofOperations: Trait = (_request, respond) => respond();

/** Traits by name; each sees the responses of those below it. The table in docs/sandbox.md has the same sentences. */
const TRAITS = {
  /** Begins bodies with a byte order mark, and sends `Content-Encoding: Identity`. */
  async 'byte-order-mark'(_request, respond) {
    const response = await respond();
    const body = response?.body ? `\uFEFF${response.body}` : null;
    return withHeaders(response && { ...response, body }, { 'Content-Encoding': 'Identity' });
  },

  /** Responds to every request with an ingress's 404 in plain text: `default backend - 404`. */
  'ingress-404': () => page(404, 'text/plain', 'default backend - 404'),

  /** Responds to every request with a framework's 404 in HTML: `Cannot GET /v1/…`. */
  'framework-404-html': ({ method, url }) => page(404, 'text/html', `<pre>Cannot ${method} ${url}</pre>`),

  /** Responds to every request with a framework's 404 in JSON, whose message is `Cannot GET /v1/…`. */
  'framework-404-json': ({ method, url }) => failure(404, `Cannot ${method} ${url}`),

  /** Responds to every request with a firewall's 403 in HTML. */
  'firewall-403': () => page(403, 'text/html', '<h1>403 Forbidden</h1>'),

  /** Responds with 503 to every request on the first connection, which stays open. */
  'sick-pod': ({ socket }, respond, seen) =>
    seen.has(socket) || (seen.size === 0 && addIfNew(seen, socket)) ? failure(503) : respond(),

  /** Responds with 408 to every other read of a URL, beginning with the first. */
  'read-timeouts': ({ method, url }, respond, seen) =>
    method === 'GET' && !seen.delete(url) && addIfNew(seen, url) ? failure(408) : respond(),

  /** Applies writes, but responds to them with 408. */
  'write-timeouts': change((response, { method }) => (method === 'GET' ? response : failure(408))),

  /** Applies no POST, but responds with 200 and `{ "statusCode": 500, "message": "…" }`. */
  'errors-with-200': ({ method }, respond) => (method === 'POST' ? { ...failure(500), status: 200 } : respond()),

  /** Responds with 503 to the first `Idempotency-Key` of each URL, and replays that. Other keys work. */
  'stored-failures'({ url, headers }, respond, seen) {
    const key = headers['idempotency-key'];
    if (seen.has(`${url} ${key}`)) {
      return withHeaders(failure(503), { 'Idempotency-Replay': 'true' });
    }
    const isFirst = key !== undefined && addIfNew(seen, url) && addIfNew(seen, `${url} ${key}`);
    return isFirst ? failure(503) : respond();
  },

  /** Exhausts the rate-limit category `configuration`, but not `trigger` and `global`. `RateLimit-Policy` names them. */
  async 'rate-limit-categories'({ url = '' }, respond) {
    const category = categoryOf(url);
    const headers = { 'RateLimit-Policy': `80;w=5;comment="token bucket";category="${category}"` };
    return category === 'configuration'
      ? withHeaders(failure(429), { ...headers, 'RateLimit-Remaining': '0', 'Retry-After': '1' })
      : withHeaders(await respond(), headers);
  },

  /** Explains invalid fields with `{ "errors": { "email": { "messages": ["…"], "value": "…" } } }` and 422. */
  'validation-by-field': explain(422, (problems) => ({
    message: 'Validation Error',
    errors: byField(problems, (message) => ({ messages: [message], value: 'a private value' })),
  })),

  /** Explains invalid fields with a list of sentences in `message` and 400. */
  'validation-400': explain(400, (problems) => ({
    message: problems.map(({ message }) => message),
    error: 'Bad Request',
    statusCode: 400,
  })),

  /** Explains invalid fields with `{ "errors": [{ "field": "email", "message": "…" }] }` and 400. */
  'validation-list': explain(400, (problems) => ({ message: 'Validation failed', errors: problems })),

  /** Explains invalid fields with `{ "errors": [{ "path": ["email"], "message": "…" }] }` and 400. */
  'validation-paths': explain(400, (problems) => ({
    errors: problems.map(({ field, message }) => ({ path: field?.split('.') ?? [], message, code: 'custom' })),
  })),

  /** Explains invalid fields with `{ "cause": { "email": ["…"] } }` and 400. */
  'validation-cause': explain(400, (problems) => ({
    message: 'Bad Request',
    cause: byField(problems, (message) => [message]),
  })),

  /** Responds to deletions with 204. */
  'deletions-204': change((response, request) => (isDeletion(request) ? emptyResponse() : response)),

  /** Responds to deletions with the record, which has only its `_id`, instead of an acknowledgement. */
  'deletions-with-record': change((response, request) =>
    isDeletion(request) ? dataResponse(200, { _id: /([^/?]+)(?:\?.*)?$/.exec(request.url ?? '')?.[1] }) : response,
  ),

  /** Omits `critical`, `draft` and `deleted` from records. */
  'absent-flags': edit((name, value) => (['critical', 'draft', 'deleted'].includes(name) ? undefined : value)),

  /** Begins lists of records, and the `templates` of statistics, with null. */
  'null-items': edit((name, value, { method }) =>
    method === 'GET' && ['', 'data', 'templates'].includes(name) && Array.isArray(value) ? [null, ...value] : value,
  ),

  /** Sends pages of subscribers with `totalCount` instead of `hasMore`. */
  'no-hasMore': ofOperations,

  /** Ignores null in updates of subscribers, except for `email`, and answers with what is stored. */
  'keeps-nulls': ofOperations,

  /** Responds with 500 to creating a deleted subscriber again, and sends it no events, until `POST /v1/subscribers/bulk` brings it back. Its messages stay. */
  'soft-deletions': ofOperations,

  /** Responds to the deletion of an unknown subscriber with 400. */
  'unknown-deletion-400': ofOperations,

  /** Sends only what both the global preferences and those for a workflow permit. `enabled` works, critical workflows are listed, and only ids name workflows. Unknown subscribers are 400. */
  'old-preferences': ofOperations,

  /** Lists all five channels in preferences for workflows. */
  'all-channels': ofOperations,

  /** Answers to marks with whole messages, of everybody. */
  'marks-of-everybody': ofOperations,

  /** Responds with 204 to deleting messages of a transaction that only has other channels. */
  'any-channel': ofOperations,

  /** Sends events to recipients with any id. */
  'any-recipient': ofOperations,

  /** Responds to bodies above 100 kB with 500. */
  async 'large-bodies-500'(_request, respond) {
    const response = await respond();
    return response?.status === 413 ? failure(500) : response;
  },

  /** Ignores `Idempotency-Key`. */
  'no-idempotency': ofOperations,

  /** Sends the `error` of a rejected event as a text instead of a list. */
  'event-error-text': edit((name, value) => (name === 'error' && Array.isArray(value) ? value.join(' ') : value)),
} satisfies Record<string, Trait>;

export type TraitName = keyof typeof TRAITS;

export const TRAIT_NAMES = Object.keys(TRAITS) as readonly TraitName[];

export const isTrait = (name: string): name is TraitName => Object.hasOwn(TRAITS, name);

/** Traits that are switched on, with their memories. */
export type ActiveTraits = Map<TraitName, Set<unknown>>;

/** Responds to a request as the traits say. The page at `/` is not affected. */
export function respondWithTraits(active: ActiveTraits, request: SandboxRequest, respond: Respond): Promise<Result> {
  const names = request.url === '/' ? [] : TRAIT_NAMES.filter((name) => active.has(name));
  const outermost = names.reduceRight<() => Promise<Result>>(
    (inner, name) => async () => TRAITS[name](request, inner, active.get(name) ?? new Set()),
    () => respond(request),
  );
  return outermost();
}

/** Creates a trait that changes the sandbox's successful responses. */
function change(toResponse: (response: SandboxResponse, request: SandboxRequest) => SandboxResponse): Trait {
  return async (request, respond) => {
    const response = await respond();
    return response && response.status < 300 ? toResponse(response, request) : response;
  };
}

/** Creates a trait that changes values in successful bodies, as a reviver of `JSON.parse` does. */
function edit(revive: (name: string, value: unknown, request: SandboxRequest) => unknown): Trait {
  return change((response, request) => {
    const body: unknown = JSON.parse(response.body ?? 'null', (name, value) => revive(name, value, request));
    return { ...response, body: response.body && JSON.stringify(body) };
  });
}

/** Creates a trait that sends validation errors in another form. */
function explain(status: number, toBody: (problems: Problem[]) => object): Trait {
  return async (_request, respond) => {
    const response = await respond();
    const body: unknown = response && response.status >= 400 ? JSON.parse(response.body ?? 'null') : undefined;
    const problems = isRow(body) && Array.isArray(body.message) ? body.message.map(toProblem) : undefined;
    return response && problems ? { ...response, status, body: JSON.stringify(toBody(problems)) } : response;
  };
}

type Problem = ReturnType<typeof toProblem>;

/** Reads a sentence such as `"email" must be an email address.` */
const toProblem = (text: string) => ({ field: /^"([^"]+)"/.exec(text)?.[1], message: text.replaceAll('"', '') });

/** Returns values by the field of each problem. */
const byField = (problems: Problem[], toValue: (message: string) => unknown): object =>
  Object.fromEntries(problems.map(({ field = 'general', message }) => [field, toValue(message)]));

const page = (status: number, type: string, body: string) => ({ status, body, headers: { 'Content-Type': type } });

const failure = (statusCode: number, message = STATUS_CODES[statusCode]): SandboxResponse =>
  bareResponse(statusCode, { message, error: STATUS_CODES[statusCode], statusCode });

const withHeaders = (response: Result, headers: Record<string, string>): Result =>
  response && { ...response, headers: { ...response.headers, ...headers } };

/** Whether a request deletes something. Events are only canceled. */
const isDeletion = ({ method, url }: SandboxRequest): boolean =>
  method === 'DELETE' && url?.startsWith('/v1/events/') === false;

/** Adds a value. Returns whether it is new. */
const addIfNew = (seen: Set<unknown>, value: unknown): boolean => seen.size < seen.add(value).size;
