/** One guard of the code, and how to take it out. */
export interface Guard {
  /** What it keeps from happening. */
  name: string;
  file: string;
  /** The text that is replaced; it must occur in the file. */
  without: [found: string, replacement: string];
  /** The test file that must fail without it. */
  test: string;
}

const guard = (name: string, file: string, found: string, replacement: string, test: string): Guard => ({
  name,
  file: `src/${file}`,
  without: [found, replacement],
  test: `test/${test}.test.ts`,
});

export const GUARDS: readonly Guard[] = [
  // Paths and ids
  guard('dot segments in ids', 'upstream/path.ts', "part === '.' || part === '..'", 'part === undefined', 'ids'),
  guard('encoding of ids', 'upstream/path.ts', "encodeURIComponent(params[name] ?? '')", "params[name] ?? ''", 'ids'),
  guard(
    'ids in a list call',
    'loaders/notification-group-loader.ts',
    'assertPathParams(GROUP_BY_ID, { id });',
    '',
    'ids',
  ),
  // Loaders
  guard('8 workflows at a time', 'loaders/workflow-loader.ts', 'CONCURRENCY = 8', 'CONCURRENCY = 9', 'batching'),
  guard('failure of one key', 'loaders/workflow-loader.ts', '.catch((error: Error) => error)', '', 'batching'),
  guard('one list for two groups', 'loaders/notification-group-loader.ts', 'ids.length === 1 && ', '', 'batching'),
  guard(
    'own writes are seen',
    'loaders/notification-group-loader.ts',
    'loader.clear(id).prime(id, identified);',
    '',
    'batching',
  ),
  guard(
    'own deletions are seen',
    'loaders/notification-group-loader.ts',
    'loader.clear(id).prime(id, null);',
    '',
    'batching',
  ),
  guard(
    'loaders of one operation',
    'context.ts',
    'createWorkflowLoader(this.#upstream)',
    '((globalThis as { shared?: WorkflowLoader }).shared ??= createWorkflowLoader(this.#upstream))',
    'batching',
  ),
  // Credentials and headers
  guard('malformed credentials', 'plugins/use-authentication.ts', '!isCredential(authorization)', 'false', 'http'),
  guard(
    'missing credentials',
    'upstream/client.ts',
    'if (authorization === undefined) {\n      throw noCredential(endpoint);\n    }',
    '',
    'http',
  ),
  guard('request ids of others', 'plugins/use-request-id.ts', ' && ACCEPTABLE.test(given)', '', 'http'),
  guard('client gone', 'context.ts', 'signal: request.signal,', 'signal: new AbortController().signal,', 'http'),
  // Errors
  guard(
    'masking',
    'plugins/client-errors.ts',
    'return mask(error, original);',
    "return { message: error.message, extensions: { code: 'X', retryable: false, requestId } };",
    'error-model',
  ),
  guard('the key in a sentence', 'upstream/error-from-response.ts', ' && !text.includes(secret)', '', 'error-model'),
  guard(
    'a write of unknown fate',
    'upstream/failures.ts',
    "outcome: 'UNKNOWN',\n    retry: 'repeatable',\n    cause,",
    "retry: 'repeatable',\n    cause,",
    'error-model',
  ),
  guard(
    'error codes outside a union',
    'graphql/errors.ts',
    "code === 'CONFLICT' ? {",
    "code === 'NOT_FOUND' ? {",
    'error-model',
  ),
  // Bodies
  guard(
    'size of upstream bodies',
    'upstream/receive.ts',
    'if (this.#size > this.#body.maxBytes) {',
    'if (false) {',
    'error-model',
  ),
  guard(
    'compressed bodies',
    'upstream/body.ts',
    "if ((headerOf(headers, 'content-encoding') ?? 'identity') !== 'identity') {",
    'if (false) {',
    'error-model',
  ),
  guard('bytes that are no UTF-8', 'upstream/body.ts', 'if (!isUtf8(body)) {', 'if (false) {', 'error-model'),
  guard('records with a field data', 'upstream/body.ts', " && !Object.hasOwn(body, '_organizationId')", '', 'contract'),
  guard('integers of a double', 'exact-json.ts', 'hasLongNumber(text) ?', 'false ?', 'hostile'),
  guard('__proto__ in JSON', 'graphql/scalars.ts', "if (key === '__proto__') {", 'if (false) {', 'subscribers'),
  guard('depth of JSON', 'graphql/scalars.ts', 'if (depth >= MAX_JSON_DEPTH) {', 'if (false) {', 'subscribers'),
  // The front door
  guard(
    'size of the request',
    'plugins/use-request-body.ts',
    'if (Number(length) > maxBytes) {',
    'if (false) {',
    'hostile',
  ),
  guard(
    'size of a chunked request',
    'plugins/use-request-body.ts',
    'if (size > maxBytes) {',
    'if (false) {',
    'hostile',
  ),
  guard(
    'cross-site GET',
    'plugins/use-request-gate.ts',
    "if (method === 'GET' &&",
    "if (method === 'NONE' &&",
    'hostile',
  ),
  guard(
    'content types',
    'plugins/use-request-gate.ts',
    "if (method !== 'POST') {",
    "if (method !== 'NONE') {",
    'hostile',
  ),
  guard('exact path', 'plugins/use-request-gate.ts', 'if (url.pathname !== endpoint) {', 'if (false) {', 'hostile'),
  guard('tokens', 'plugins/check-document.ts', '{ ...options, maxTokens }', '{ ...options }', 'hostile'),
  guard('other limits of documents', 'plugins/use-document-limits.ts', 'replaceParseResult(problem);', '', 'hostile'),
  guard(
    'fragments in the limits',
    'plugins/document-limits.ts',
    'return ofFragment(node.name.value);',
    'return EMPTY;',
    'hostile',
  ),
  guard('origins', 'plugins/use-cors.ts', 'origin != null && origins.has(origin)', 'origin != null', 'hostile'),
  guard('requests at a time', 'server.ts', 'running.size >= maxRunning', 'false', 'server'),
  guard('refusal while stopping', 'server.ts', "isDraining ? 'stopping' : whyBusy());", 'whyBusy());', 'server'),
  guard('slow clients', 'server.ts', 'requestTimeout: requestTimeoutMs,', 'requestTimeout: 0,', 'server'),
  guard(
    'keys in the log',
    'plugins/access-log.ts',
    "createHmac('sha256', secret).update(authorization).digest('hex').slice(0, 8)",
    'authorization',
    'log',
  ),
  // Policies of the upstream
  guard(
    'methods that are repeated',
    'upstream/client.ts',
    "endpoint.method === 'GET' ||",
    "endpoint.method !== 'PUT' ||",
    'faults',
  ),
  guard('attempts are limited', 'upstream/retry.ts', 'retried >= maxRetries', 'retried >= 9', 'faults'),
  guard(
    'Retry-After that is too long',
    'upstream/retry.ts',
    'retryAfterSeconds > maxRetryAfterSeconds',
    'false',
    'faults',
  ),
  guard(
    'deadline of the operation',
    'upstream/operation-time.ts',
    'deadlineAt - performance.now());',
    '30_000);',
    'error-model',
  ),
  guard(
    'deadline of the attempt',
    'upstream/exchange.ts',
    'timeoutMs: attemptTimeoutMs',
    'timeoutMs: 30_000',
    'error-model',
  ),
  guard(
    'retry budget',
    'upstream/retry-budget.ts',
    'retries + 1 <= Math.max(floor, share * calls)',
    'true',
    'policies',
  ),
  guard(
    'scope of the breaker',
    'upstream/circuit-breaker.ts',
    'recent.count(isUpstreamError(error) && error.isOutage)',
    'recent.count(true)',
    'policies',
  ),
  guard(
    'credential in coalescing',
    'upstream/client.ts',
    'coalescing.read(request.authorization,',
    "coalescing.read('everybody',",
    'isolation',
  ),
  guard(
    'write before a read',
    'upstream/coalescing.ts',
    'of(credential);\n      reads.length = 0;',
    'of(credential);',
    'policies',
  ),
  guard(
    'read after a write',
    'upstream/coalescing.ts',
    '} finally {\n        reads.length = 0;',
    '} finally {',
    'policies',
  ),
  guard(
    'readers who stay',
    'upstream/coalescing.ts',
    'if (shared.readers === 0 && ',
    'if (shared.readers >= 0 && ',
    'policies',
  ),
  guard('calls of one key', 'upstream/concurrency.ts', 'if (lane.running < maxRunning) {', 'if (true) {', 'policies'),
  guard(
    'waiting calls of one key',
    'upstream/concurrency.ts',
    'if (lane.waiting.size >= maxWaiting) {',
    'if (false) {',
    'policies',
  ),
  guard('calls of one operation', 'upstream/client.ts', 'if (tally[kind] >= limit) {', 'if (false) {', 'policies'),
  // The short way
  guard('client gone (short way)', 'prepared/serve-prepared.ts', 'client.abort();', '', 'executors'),
  guard(
    'variables that do not fit (short way)',
    'prepared/compile.ts',
    "'data' in result ? result : undefined",
    'result',
    'executors',
  ),
  guard(
    'size of the request (short way)',
    'prepared/read-head.ts',
    "Number(headers['content-length']) <= maxBodyBytes",
    'true',
    'executors',
  ),
  guard('exact path (short way)', 'prepared/read-head.ts', 'url === endpoint', 'true', 'executors'),
  guard(
    'content types (short way)',
    'prepared/read-head.ts',
    "isJsonType(headers['content-type'])",
    'true',
    'executors',
  ),
  guard(
    'malformed credentials (short way)',
    'prepared/read-head.ts',
    '(authorization === undefined || isCredential(authorization))',
    'true',
    'executors',
  ),
  guard(
    'limits of documents (short way)',
    'plugins/check-document.ts',
    'check.refuse(document) === undefined &&',
    '',
    'prepared',
  ),
  guard(
    'one compilation at a time',
    'prepared/prepared-operations.ts',
    'if (isCompiling) {',
    'if (false) {',
    'prepared',
  ),
  // Idempotency
  guard(
    'keys of several fields',
    'graphql/idempotency.ts',
    '[info.fieldName, info.path.key, key,',
    '[key,',
    'idempotency',
  ),
  // The sandbox
  guard(
    'environments of the sandbox',
    'sandbox/notification-groups.ts',
    'WHERE environment_id = ?',
    'WHERE environment_id IS NOT ?',
    'sandbox-endpoints',
  ),
  // The page
  guard(
    'content security policy',
    'plugins/use-graphiql.ts',
    '"connect-src \'self\'",',
    '"connect-src *",',
    'graphiql',
  ),
];
