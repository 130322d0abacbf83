import { cacheSettingsOf, MIN_CACHE_SECRET } from './cache.ts';
import type { Settings } from './settings.ts';

/** Settings that belong together. */
export type AccessSettings = Pick<
  Settings,
  'cache' | 'clients' | 'clientTokens' | 'trustedDocuments' | 'upstream' | 'upstreams'
> &
  Partial<Pick<Settings, 'host' | 'port' | 'adminHost' | 'adminPort'>> & {
    /** Number of processes that serve. @default 1 */
    workers?: number;
  };

/** Returns the settings that contradict each other or miss another one, as a clause each. */
export function findConflicts(settings: AccessSettings): string[] {
  const { clients, clientTokens, trustedDocuments, upstream, upstreams } = settings;
  const { server, browser } = clients;
  const issuers = browser?.issuers.map(({ issuer }) => issuer) ?? [];
  const own = clientTokens?.issuer;
  const isRestricted = [server, browser].some((client) => client && client.trustedDocuments !== 'off');
  const rules: [isBroken: boolean, clause: string][] = [
    [
      browser !== undefined && issuers.length === 0 && own === undefined,
      'clients.browser needs issuers, or clientTokens at the top level',
    ],
    [
      browser !== undefined && browser.tenants === undefined && browser.tenantKeys === undefined,
      'clients.browser needs tenants, or tenantKeys with their directory',
    ],
    [new Set(issuers).size < issuers.length, 'clients.browser.issuers contains the same issuer twice'],
    [browser === undefined && own !== undefined, 'clientTokens needs clients.browser, which accepts the tokens'],
    [own !== undefined && issuers.includes(own), 'clientTokens.issuer must differ from the names of other issuers'],
    [
      isRestricted && trustedDocuments.manifests.length === 0,
      'trustedDocuments.manifests must contain at least one manifest',
    ],
    [isSameAddress(settings), 'adminPort must differ from port'],
  ];
  return [
    ...(upstream !== undefined && upstreams !== undefined
      ? ['upstreams cannot be combined with upstream; use only one of them']
      : []),
    ...rules.flatMap(([isBroken, clause]) => (isBroken ? [clause] : [])),
    ...findCacheConflicts(settings),
    ...findUpstreamConflicts(upstreams),
    ...findTenantConflicts(clients.browser, upstreams),
  ];
}

/** Whether both ports are the same, on hosts that overlap. */
function isSameAddress({ host, port, adminHost, adminPort }: AccessSettings): boolean {
  const isEveryHost = [host, adminHost].some((name) => name === '0.0.0.0' || name === '::');
  return port !== undefined && port !== 0 && port === adminPort && (host === adminHost || isEveryHost);
}

/** Returns what prevents the cache from working with the processes that serve, and from encrypting what it stores. */
function findCacheConflicts({ cache, workers = 1 }: AccessSettings): string[] {
  const { store, secret } = cacheSettingsOf(cache) ?? {};
  const rules: [isBroken: boolean, clause: string][] = [
    [
      store === 'memory' && workers > 1,
      `cache uses the store memory, which requires a single worker; use cache.store.redis, or set workers to 1 instead of ${workers}`,
    ],
    [
      typeof store === 'object' && secret === undefined,
      `cache.secret is required with Redis; set a secret of at least ${MIN_CACHE_SECRET} characters, the same for all replicas`,
    ],
    [
      typeof secret === 'string' && secret.length < MIN_CACHE_SECRET,
      `cache.secret must have at least ${MIN_CACHE_SECRET} characters`,
    ],
  ];
  return rules.flatMap(([isBroken, clause]) => (isBroken ? [clause] : []));
}

/** Returns the hosts and paths that select two upstreams, and a second default. */
function findUpstreamConflicts(upstreams: AccessSettings['upstreams'] = {}): string[] {
  const owners = new Map<string, string>();
  return Object.entries(upstreams).flatMap(([name, { hosts = [], pathPrefix, default: isDefault }]) => {
    const claims: [setting: string, value: string, clause: string][] = [
      ...hosts.map((host): [string, string, string] => ['hosts', host, `contains ${host}, which selects`]),
      ...(pathPrefix === undefined
        ? []
        : [['pathPrefix', pathPrefix, 'already selects'] satisfies [string, string, string]]),
      ...(isDefault
        ? [['default', '', 'must be on for only one upstream, and is already for'] satisfies [string, string, string]]
        : []),
    ];
    return claims.flatMap(([setting, value, clause]) => {
      const owner = owners.get(`${setting} ${value}`) ?? name;
      owners.set(`${setting} ${value}`, owner);
      return owner === name ? [] : [`upstreams.${name}.${setting} ${clause} ${owner}`];
    });
  });
}

/** Returns the tenants whose entries select no upstream, or one that doesn't exist. */
function findTenantConflicts(
  browser: Settings['clients']['browser'],
  upstreams: AccessSettings['upstreams'],
): string[] {
  const names = Object.keys(upstreams ?? {});
  const hasDefault = upstreams === undefined || Object.values(upstreams).some((upstream) => upstream.default);
  const selected = [
    ...Object.entries(browser?.tenants ?? {}).map(([tenant, entry]): [path: string, name: string | undefined] => [
      `clients.browser.tenants.${tenant}`,
      typeof entry === 'object' && 'key' in entry ? entry.upstream : undefined,
    ]),
    ...Object.entries(browser?.tenantKeys?.upstreams ?? {}).map(([tenant, name]): [path: string, name: string] => [
      `clients.browser.tenantKeys.upstreams.${tenant}`,
      name,
    ]),
  ];
  return selected.flatMap(([path, name]) => {
    if (name === undefined) {
      return hasDefault ? [] : [`${path} needs an upstream, { key, upstream }, because none is the default`];
    }
    const problem =
      names.length === 0 ? 'selects an upstream, but there are no upstreams' : 'selects an unknown upstream';
    return names.includes(name) ? [] : [`${path} ${problem}${names.length === 0 ? '' : `; use ${names.join(' or ')}`}`];
  });
}
