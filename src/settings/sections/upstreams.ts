// Settings of the services: calls, connections, and several of them.

import { z } from 'zod';
import { toHostname } from '../../lib/urls.ts';
import {
  choice,
  group,
  headersByName,
  integer,
  list,
  matching,
  offByDefault,
  onOff,
  SETTING_INFO,
  setting,
} from '../define.ts';
import { ofKind, pem, proxyAddress, secret, textOrFile, upstreamUrl } from '../kinds.ts';

/** Settings of the calls of a service, most of which each of several services can override. */
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
    'Maximum retries of a call. Reads and `PUT …/status` are retried after [these failures](reliability.md#failures); other writes only if they cannot have been applied.',
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
  maxConcurrentCallsPerKey: setting(
    integer(1, 10_000).default(10),
    'Maximum in-flight calls per API key. One person with a token has half at most, and one call at a time is sent with a key that the service may not know.',
  ),
  maxUpstreamCalls: setting(
    integer(1, 10_000).default(50),
    'Maximum calls per operation. One more is `BUDGET_EXCEEDED` and not sent.',
  ),
  maxUpstreamResponseBytes: setting(
    integer(65_536, 1_073_741_824).default(5_242_880),
    'Maximum size of a response of the service. A larger one is `UPSTREAM_BAD_RESPONSE`. [Topics with many subscribers](trigger.md#large-topics-and-attachments) need more.',
  ),
  upstreamIdempotency: setting(
    onOff().prefault(false),
    'Whether the service honors `Idempotency-Key`. Writes that carry one are then retried like reads.',
  ),
  idempotencyKeys: setting(
    choice(['current', 'previous']).default('current'),
    'How the keys for the service are derived from those of callers. `previous` derives them as 1.0 does. Use it [while both versions run](upgrading.md#repeated-changes), so that a repeated change is applied once.',
  ),
};

const NAME_PROBLEM = 'must be a name of at most 32 lowercase letters, digits and dashes that begins with a letter';
const HOST_PROBLEM = 'must be a host name such as eu.example.com, without a port';

/** Host name or address, as in a URL: in lower case, IPv6 addresses in brackets. */
const hostName = z.string(HOST_PROBLEM).transform((text, context): string => {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.hostname !== text.toLowerCase()) {
    context.addIssue({ code: 'custom', message: HOST_PROBLEM });
    return z.NEVER;
  }
  return toHostname(url.hostname);
});

export const hostNames = () => list(hostName, 'must be a list of host names such as eu.example.com, without a port');

const tls = group({
  ca: setting(
    pem('certificate').exactOptional(),
    'Certificates of private authorities in PEM, trusted in addition to those of Node.js: inline, `{ env }` or `{ file }`.',
  ),
  clientCertificate: setting(
    pem('certificate').exactOptional(),
    'Certificate that the gateway shows the service, in PEM, followed by its intermediate ones.',
  ),
  clientKey: setting(
    secret('clientKey').exactOptional(),
    'Private key of `clientCertificate` in PEM, without a passphrase.',
  ),
}).refine(
  ({ clientCertificate, clientKey }) => (clientCertificate === undefined) === (clientKey === undefined),
  'needs clientCertificate and clientKey, or neither',
);

const upstreamHeader = ofKind('upstreamHeader', textOrFile('must be a text, { env: NAME } or { file: PATH }'));

const upstreamHeaders = () => headersByName(upstreamHeader, "which can't be set here").exactOptional();

/** Default of the settings that override a general one. */
export const AS_FOR_ALL = 'as for all upstreams';

/** Makes a general setting one of a single upstream, which overrides it. */
const override = <Inner extends z.ZodType>(
  general: z.ZodDefault<Inner> | z.ZodPrefault<Inner> | z.ZodExactOptional<Inner>,
) =>
  setting(general.unwrap().exactOptional(), SETTING_INFO.get(general)?.description ?? '', {
    defaultText: AS_FOR_ALL,
  });

const upstream = group({
  url: setting(upstreamUrl, 'Base address of the service. May have a path prefix.'),
  default: offByDefault('Whether requests and tenants that select no upstream use this one.'),
  hosts: setting(
    hostNames().nonempty('must contain at least one host').exactOptional(),
    'Values of the header `Host`, without port, by which servers select it.',
  ),
  pathPrefix: setting(
    matching(/^(?:\/[\w~-][\w.~-]*)+$/, 'must be a path such as /eu, without a slash at the end').exactOptional(),
    'Path before that of the endpoint by which servers select it: `/eu` for `/eu/graphql`.',
  ),
  proxy: override(upstreamCalls.proxy),
  tls: setting(tls.exactOptional(), 'TLS to this service, in place of the general section `tls`.', {
    defaultText: AS_FOR_ALL,
  }),
  upstreamHeaders: setting(upstreamHeaders(), 'Headers of every request to it.', { defaultText: AS_FOR_ALL }),
  sockets: override(upstreamCalls.sockets),
  socketIdleMs: override(upstreamCalls.socketIdleMs),
  isolateConnections: override(upstreamCalls.isolateConnections),
  attemptTimeoutMs: override(upstreamCalls.attemptTimeoutMs),
  maxRetries: override(upstreamCalls.maxRetries),
  maxConcurrentCallsPerKey: override(upstreamCalls.maxConcurrentCallsPerKey),
  upstreamIdempotency: override(upstreamCalls.upstreamIdempotency),
});

/** Services besides a single one, and TLS to them. */
export const upstreamSections = {
  tls: setting(
    tls.exactOptional(),
    'TLS to the service. Changed files apply to new connections. See [certificates](network.md#proxies-and-certificates).',
  ),
  upstreamHeaders: setting(
    upstreamHeaders(),
    'Headers that every request to the service has, by name: each a text, `{ env }` or `{ file }`. See [headers](network.md#headers-for-the-service).',
    { examples: [{ 'X-Access-Token': { env: 'ACCESS_TOKEN' } }] },
  ),
  upstreams: setting(
    z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, NAME_PROBLEM), upstream, {
        error: (issue) => (issue.code === 'invalid_key' ? NAME_PROBLEM : 'must be an object of upstreams by name'),
      })
      .refine((entries) => Object.keys(entries).length > 0, 'must contain at least one upstream')
      .exactOptional(),
    'Several services by name, in place of `upstream`. See [several upstreams](several-upstreams.md).',
  ),
};
