// Validates settings, one by one and together, and describes their problems.

import type { z } from 'zod';
import { unknownSetting } from '../lib/words.ts';
import type { SettingProblem } from './define.ts';
import { OWN_SECRETS } from './kinds.ts';
import { findUnknownScopes } from './scopes.ts';
import { CLIENT_TOKEN_ISSUER, GATEWAY_SETTINGS, GATEWAY_TABLE, type GatewaySettings } from './settings.ts';

type Values = Readonly<Record<string, unknown>>;

export type Parsed<Settings> =
  | { settings: Settings; problems?: never }
  | { settings?: never; problems: readonly SettingProblem[] };

/**
 * Validates settings and their combinations, and applies defaults. The result is plain data, which other processes can use as it is. Ignores names
 * that are no settings.
 *
 * @param table schema of all settings
 * @param conflictsOf returns what is wrong with a combination of valid settings
 */
export function parseSettings<Settings>(
  values: Values,
  table: z.ZodType<Settings>,
  conflictsOf: (settings: Settings) => readonly SettingProblem[],
): Parsed<Settings> {
  const hasModules = Array.isArray(values.modules) && values.modules.length > 0;
  const { data, error } = table.safeParse(values, { reportInput: true });
  const problems = [
    ...findUnusable(values),
    ...(error?.issues ?? []).flatMap((issue) => toProblems(issue)),
    ...(hasModules ? [] : findUnknownScopes(values.clients)), // With modules, they are checked with the schema.
    ...(data === undefined ? [] : conflictsOf(data)),
  ];
  return data === undefined || problems.length > 0 ? { problems } : { settings: data };
}

/** Options that are code of the user. */
const CODE = ['plugins', 'modules', 'authenticate'];

const NO_UPSTREAM = 'upstream must be the base address of the service, such as https://notifications.example.com.';

/** Returns a message without `{ env }`, a form of the configuration file that options don't have. */
const withoutEnv = (message: string): string =>
  message.replace(/[:,] \{ env: NAME \} or /, ' or ').replace('{ env: NAME }', '…');

/**
 * Validates the options of `createGateway` and applies defaults.
 *
 * @param modules texts in place of its modules
 * @param hasSessions whether the host identifies browsers by its own sessions
 * @throws {TypeError} that names every unknown, undefined or invalid option
 */
export function parseOptions(options: Values, modules: unknown = [], hasSessions = false): GatewaySettings {
  const names = Object.keys(GATEWAY_SETTINGS);
  const isKnown = (name: string) => names.includes(name);
  const values = { ...Object.fromEntries(Object.entries(options).filter(([name]) => isKnown(name))), modules };
  const { settings, problems = [] } = parseSettings(values, GATEWAY_TABLE, (all) => findConflicts(all, hasSessions));
  const unknown = Object.keys(options).filter((name) => !isKnown(name));
  const sentences = [
    ...(options.upstream === undefined && options.upstreams === undefined ? [NO_UPSTREAM] : []),
    ...(Array.isArray(modules) ? [] : ['modules must be a list.']),
    ...unknown.map((name) => `createGateway has ${unknownSetting(name, [...names, ...CODE], 'option')}.`),
    ...problems.map((problem) => withoutEnv(toSentence(problem))),
  ];
  if (settings === undefined || sentences.length > 0) {
    throw new TypeError([...new Set(sentences)].join('\n'));
  }
  return settings;
}

/** Returns a problem as a sentence that begins with the path of the setting. */
export const toSentence = ({ path, message }: SettingProblem): string => `${path.join('.')} ${message}.`;

/** Returns the problems of the alternative that was meant if a setting has several forms. */
function toProblems(issue: z.core.$ZodIssue, at: readonly PropertyKey[] = []): SettingProblem[] {
  const path = [...at, ...issue.path];
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((issues) => issues.some(isInside) && !issues.some(isMissing));
    if (meant !== undefined) {
      return meant.flatMap((inner) => toProblems(inner, path));
    }
  }
  const place = issue.code === 'unrecognized_keys' && { at: [...path, ...issue.keys.slice(0, 1)] };
  return [{ path, message: issue.message, ...place }];
}

/** Whether the value has the form of an alternative, and something inside it is wrong. */
const isInside = ({ path, code }: z.core.$ZodIssue): boolean => path.length > 0 || code === 'unrecognized_keys';

/** Whether an alternative requires something that the value does not have. */
const isMissing = ({ code, input, path }: z.core.$ZodIssue): boolean =>
  code === 'invalid_type' && input === undefined && path.length === 1;

/** Finds what the schema would ignore: values that are undefined, and the name `__proto__`. */
function findUnusable(value: unknown, path: readonly string[] = []): SettingProblem[] {
  if (value === undefined) {
    return [{ path, message: 'is undefined; leave it out or give it a value' }];
  }
  if (path.at(-1) === '__proto__') {
    return [{ path, message: 'must have another name' }];
  }
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return members.flatMap(([name, member]) => findUnusable(member, [...path, name]));
}

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
