// Finds settings that contradict each other, or miss another one.

import type { SettingProblem } from './define.ts';
import { OWN_SECRETS } from './kinds.ts';
import { CLIENT_TOKEN_ISSUER, type GatewaySettings } from './settings.ts';

/**
 * Returns the settings that contradict each other or miss another one.
 *
 * @param hasSessions whether the host identifies browsers by its own sessions
 */
export function findConflicts(settings: GatewaySettings, hasSessions = false): SettingProblem[] {
  const { clients, clientTokens, trustedDocuments, upstream, upstreams, cache } = settings;
  const { server, browser } = clients;
  const issuers = browser?.issuers.map(({ issuer }) => issuer) ?? [];
  const isRestricted = [server, browser].some((client) => client && client.trustedDocuments !== 'off');
  const rules: readonly [isBroken: boolean, path: string, message: string][] = [
    [
      upstream !== undefined && upstreams !== undefined,
      'upstreams',
      'cannot be combined with upstream; use only one of them',
    ],
    [
      browser !== undefined && issuers.length === 0 && clientTokens === undefined && !hasSessions,
      'clients.browser',
      'needs issuers, or clientTokens at the top level',
    ],
    [hasSessions && browser === undefined, 'authenticate', 'needs clients.browser, with tenants and scopes'],
    [
      browser !== undefined && browser.tenants === undefined && browser.tenantKeys === undefined,
      'clients.browser',
      'needs tenants, or tenantKeys with their directory',
    ],
    [new Set(issuers).size < issuers.length, 'clients.browser.issuers', 'contains the same issuer twice'],
    [
      browser === undefined && clientTokens !== undefined,
      'clientTokens',
      'needs clients.browser, which accepts the tokens',
    ],
    [
      clientTokens !== undefined && issuers.includes(CLIENT_TOKEN_ISSUER),
      'clients.browser.issuers',
      `contains ${CLIENT_TOKEN_ISSUER}, which is the issuer of clientTokens`,
    ],
    [
      isRestricted && trustedDocuments.manifests.length === 0,
      'trustedDocuments.manifests',
      'must contain at least one manifest',
    ],
    [
      cache !== false && typeof cache.store === 'object' && cache.secret === undefined,
      'cache.secret',
      `is required with Redis; set a secret of at least ${OWN_SECRETS.cacheSecret.minLength} characters, the same for all replicas`,
    ],
  ];
  return [
    ...rules.flatMap(([isBroken, path, message]) => (isBroken ? [{ path: path.split('.'), message }] : [])),
    ...findUpstreamConflicts(upstreams),
    ...findTenantConflicts(browser, upstreams),
  ];
}

/** Returns the hosts and paths that select two upstreams, and a second default. */
function findUpstreamConflicts(upstreams: GatewaySettings['upstreams'] = {}): SettingProblem[] {
  const owners = new Map<string, string>();
  function claim(name: string, setting: string, value: string, clause: string): SettingProblem[] {
    const owner = owners.get(`${setting} ${value}`) ?? name;
    owners.set(`${setting} ${value}`, owner);
    return owner === name ? [] : [{ path: ['upstreams', name, setting], message: `${clause} ${owner}` }];
  }
  return Object.entries(upstreams).flatMap(([name, { hosts = [], pathPrefix, default: isDefault }]) => [
    ...hosts.flatMap((host) => claim(name, 'hosts', host, `contains ${host}, which selects`)),
    ...(pathPrefix === undefined ? [] : claim(name, 'pathPrefix', pathPrefix, 'already selects')),
    ...(isDefault ? claim(name, 'default', '', 'must be on for only one upstream, and is already for') : []),
  ]);
}

/** Returns the tenants whose entries select no upstream, or one that doesn't exist. */
function findTenantConflicts(
  browser: GatewaySettings['clients']['browser'],
  upstreams: GatewaySettings['upstreams'],
): SettingProblem[] {
  const names = Object.keys(upstreams ?? {});
  const hasDefault = upstreams === undefined || Object.values(upstreams).some((upstream) => upstream.default);
  const selections = [
    ...Object.entries(browser?.tenants ?? {}).map(([tenant, entry]) => ({
      path: ['clients', 'browser', 'tenants', tenant],
      name: typeof entry === 'object' && 'key' in entry ? entry.upstream : undefined,
    })),
    ...Object.entries(browser?.tenantKeys?.upstreams ?? {}).map(([tenant, name]) => ({
      path: ['clients', 'browser', 'tenantKeys', 'upstreams', tenant],
      name,
    })),
  ];
  return selections.flatMap(({ path, name }) => {
    if (name === undefined) {
      return hasDefault ? [] : [{ path, message: 'needs an upstream, { key, upstream }, because none is the default' }];
    }
    if (names.length === 0) {
      return [{ path, message: 'selects an upstream, but there are no upstreams' }];
    }
    return names.includes(name) ? [] : [{ path, message: `selects an unknown upstream; use ${names.join(' or ')}` }];
  });
}

/** Whether the audit log names an API key in another way after each restart. Names of tenants stay. */
export const hasChangingNames = ({
  audit,
  clients,
  logSecret,
}: Pick<GatewaySettings, 'audit' | 'clients' | 'logSecret'>): boolean =>
  audit !== undefined && clients.server !== false && logSecret === undefined;
