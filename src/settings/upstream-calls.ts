import { choice, integer, onOff, setting } from './define.ts';
import { proxyAddress } from './kinds.ts';

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
  maxRetries: setting(
    integer(0, 10).default(2),
    'Maximum retries of a call. Reads and `PUT …/status` are retried after 408, 425, 502 to 504, 520 to 530, a reset or a timeout; other writes only if they cannot have been applied.',
  ),
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
  maxUpstreamCalls: setting(
    integer(1, 10_000).default(50),
    'Maximum calls per operation. One more is `BUDGET_EXCEEDED` and not sent.',
  ),
  upstreamIdempotency: setting(
    onOff().default(false),
    'Whether the service honors `Idempotency-Key`. Writes that carry one are then retried like reads.',
  ),
};
