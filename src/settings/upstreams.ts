import { z } from 'zod';
import { group, headersByName, onOffInSection, SETTING_INFO, setting } from './define.ts';
import { pem, proxyAddress, secret, upstreamHeader, upstreamUrl } from './kinds.ts';
import { upstreamCalls } from './upstream-calls.ts';

// The sections of the settings table about services: several of them, and TLS.

const NAME_PROBLEM = 'must be a name of at most 32 lowercase letters, digits and dashes that begins with a letter';
const HOST_PROBLEM = 'must be a host name such as eu.example.com, without a port';
const HOSTS_PROBLEM = 'must be a list of host names such as eu.example.com, without a port';
const PREFIX_PROBLEM = 'must be a path such as /eu, without a slash at the end';

/** Returns a host name of a URL without the dot that ends absolute names. */
export const toHostname = (hostname: string): string => hostname.replace(/\.$/, '');

/** Host name or address, as in a URL: in lower case, IPv6 addresses in brackets. */
const hostName = z.string(HOST_PROBLEM).transform((text, context): string => {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.hostname !== text.toLowerCase()) {
    context.addIssue({ code: 'custom', message: HOST_PROBLEM });
    return z.NEVER;
  }
  return toHostname(url.hostname);
});

/** Host names without ports. */
export const hostNames = () => z.array(hostName, HOSTS_PROBLEM);

const tls = group({
  ca: setting(
    pem('certificate').exactOptional(),
    'Certificates of private authorities in PEM, trusted in addition to those of Node.js: inline, `{ env }` or `{ file }`.',
    { defaultText: 'none', isReloadable: true },
  ),
  clientCertificate: setting(
    pem('certificate').exactOptional(),
    'Certificate that the gateway shows the service, in PEM, followed by its intermediate ones.',
    { defaultText: 'none', isReloadable: true },
  ),
  clientKey: setting(
    secret('clientKey').exactOptional(),
    'Private key of `clientCertificate` in PEM, without a passphrase.',
    {
      defaultText: 'none',
      isReloadable: true,
    },
  ),
}).refine(
  ({ clientCertificate, clientKey }) => (clientCertificate === undefined) === (clientKey === undefined),
  'needs clientCertificate and clientKey, or neither',
);

const upstreamHeaders = () => headersByName(upstreamHeader(), "which can't be set here").exactOptional();

/** Default of the settings that override a general one. */
export const AS_FOR_ALL = 'as for all upstreams';

/** Makes a general setting one of a single upstream, which overrides it. */
const override = <Inner extends z.ZodType>(general: z.ZodDefault<Inner>) =>
  setting(general.unwrap().exactOptional(), SETTING_INFO.get(general)?.description ?? '', {
    defaultText: AS_FOR_ALL,
  });

const upstream = group({
  url: setting(upstreamUrl, 'Base address of the service. May have a path prefix.'),
  default: setting(
    onOffInSection().default(false),
    'Whether requests and tenants that select no upstream use this one.',
    { defaultText: '`off`' },
  ),
  hosts: setting(
    hostNames().nonempty('must contain at least one host').exactOptional(),
    'Values of the header `Host`, without port, by which servers select it.',
    { defaultText: 'none' },
  ),
  pathPrefix: setting(
    z
      .string(PREFIX_PROBLEM)
      .regex(/^(?:\/[\w~-][\w.~-]*)+$/, PREFIX_PROBLEM)
      .exactOptional(),
    'Path before that of the endpoint by which servers select it: `/eu` for `/eu/graphql`.',
    { defaultText: 'none' },
  ),
  proxy: setting(proxyAddress.exactOptional(), SETTING_INFO.get(upstreamCalls.proxy)?.description ?? '', {
    defaultText: AS_FOR_ALL,
  }),
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
  upstreamIdempotency: setting(
    onOffInSection().exactOptional(),
    SETTING_INFO.get(upstreamCalls.upstreamIdempotency)?.description ?? '',
    { defaultText: AS_FOR_ALL },
  ),
});

/** Services besides a single one, and TLS to them. */
export const upstreamSections = {
  tls: setting(
    tls.exactOptional(),
    'TLS to the service. Changed files apply to new connections. See [certificates](network.md#proxies-and-certificates).',
    { defaultText: 'none' },
  ),
  upstreamHeaders: setting(
    upstreamHeaders(),
    'Headers that every request to the service has, by name: each a text, `{ env }` or `{ file }`. See [headers](network.md#headers-for-the-service).',
    { defaultText: 'none', isReloadable: true, examples: [{ 'X-Access-Token': { env: 'ACCESS_TOKEN' } }] },
  ),
  upstreams: setting(
    z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, NAME_PROBLEM), upstream, {
        error: (issue) => (issue.code === 'invalid_key' ? NAME_PROBLEM : 'must be an object of upstreams by name'),
      })
      .refine((entries) => Object.keys(entries).length > 0, 'must contain at least one upstream')
      .exactOptional(),
    'Several services by name, in place of `upstream`. See [several upstreams](several-upstreams.md).',
    { defaultText: 'none' },
  ),
};

/** Certificates and key of the TLS connections to a service. */
export type TlsSettings = z.output<typeof tls>;
