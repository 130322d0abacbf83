import { proxyAddress } from './kinds.ts';
import { choice, integer, onOff, setting } from './setting.ts';

const MIB = 1024 * 1024;

/** Settings of the calls of a service. */
export const upstreamCalls = {
  operationTimeoutMs: setting(
    integer(10, 600_000).default(15_000),
    'Time limit of an operation, with waiting, pauses and retries. Unfinished fields are `UPSTREAM_TIMEOUT`; the other data is returned.',
  ),
  attemptTimeoutMs: setting(
    integer(50, 600_000).default(6_000),
    'Time limit of one request, to the end of the response body.',
  ),
  connectTimeoutMs: setting(integer(50, 60_000).default(2_000), 'Time limit for opening a connection.'),
  headersTimeoutMs: setting(
    integer(50, 600_000).default(5_000),
    'Time limit from sending a request to its response headers.',
  ),
  maxRetries: setting(
    integer(0, 10).default(2),
    'Maximum retries of a call. Reads and `PUT …/status` are retried after 408, 425, 502 to 504, 520 to 530, a reset or a timeout; other writes only if they cannot have been applied.',
  ),
  retryBaseDelayMs: setting(
    integer(1, 10_000).default(100),
    'Maximum first pause before a retry. It is random and doubles each time.',
  ),
  retryMaxDelayMs: setting(integer(1, 60_000).default(1_000), 'Upper bound of the pauses.'),
  maxRetryAfterSeconds: setting(
    integer(0, 60).default(2),
    'Longest `Retry-After` that is waited for. A longer one is passed on to the client.',
  ),
  retryBudgetPercent: setting(integer(0, 100).default(20), 'Maximum in-flight retries, as a share of in-flight calls.'),
  retryBudgetFloor: setting(integer(0, 1_000).default(3), 'In-flight retries that are always allowed.'),
  breakerPercent: setting(
    integer(1, 100).default(50),
    'Share of calls without a connection, without response headers in time, or with 408, 425, 502 to 504 or 520 to 530 that opens [the circuit breaker](reliability.md#the-circuit-breaker).',
  ),
  breakerMinimumCalls: setting(
    integer(1, 100_000).default(20),
    'Minimum calls in the window for the circuit breaker to open.',
  ),
  breakerWindowMs: setting(integer(100, 600_000).default(10_000), 'Window in which calls count.'),
  breakerOpenMs: setting(
    integer(10, 600_000).default(2_000),
    'Time that the circuit breaker stays open before it lets one call through. Doubles with each failure.',
  ),
  breakerMaxOpenMs: setting(integer(10, 600_000).default(8_000), 'Upper bound of that time.'),
  proxy: setting(
    proxyAddress.exactOptional(),
    'Proxy that connections to the service are tunneled through (`CONNECT`): its URL, with user name and password only as `{ env: NAME }`; or `off`. See [proxies](network.md#proxies-and-certificates).',
    { defaultText: '`HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` excludes the service; `off` in `createGateway`' },
  ),
  sockets: setting(integer(1, 10_000).default(64), 'Maximum connections to the service (HTTP/1.1).'),
  socketIdleMs: setting(
    integer(1, 600_000).default(4_000),
    'Time after which an idle connection is closed. Services close theirs after 5 s or more.',
  ),
  isolateConnections: setting(
    choice(['none', 'credential']).default('none'),
    'Whether a connection can be reused for [another API key](reliability.md#responses-and-credentials): `none` reuses it, `credential` never does.',
  ),
  maxConcurrentCallsPerKey: setting(integer(1, 10_000).default(10), 'Maximum in-flight calls per API key.'),
  maxQueuedCallsPerKey: setting(
    integer(0, 100_000).default(100),
    'Maximum queued calls per API key. One more is `OVERLOADED` and not sent.',
  ),
  maxUpstreamCalls: setting(
    integer(1, 10_000).default(50),
    'Maximum calls per operation. One more is `BUDGET_EXCEEDED` and not sent.',
  ),
  maxBulkItems: setting(
    integer(1, 10_000).default(100),
    'Maximum items of bulk mutations per operation. They do not count as calls.',
  ),
  maxUpstreamBodyBytes: setting(
    integer(1_024, 1_024 * MIB).default(5 * MIB),
    'Maximum size of a response body. A larger one is `UPSTREAM_BAD_RESPONSE`.',
  ),
  maxUpstreamListItems: setting(
    integer(1, 1_000_000).default(10_000),
    'Maximum items of a list in a response. A longer one is `UPSTREAM_BAD_RESPONSE`.',
  ),
  upstreamIdempotency: setting(
    onOff().default(false),
    'Whether the service honors `Idempotency-Key`. Writes that carry one are then retried like reads.',
  ),
};
