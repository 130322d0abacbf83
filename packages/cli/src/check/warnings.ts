// Finds settings that are valid, but probably not intended.

import { existsSync, statSync } from 'node:fs';
import type { GraphQLSchema } from 'graphql';
import { checkDocuments } from '../../../../src/documents/validate.ts';
import { listFilesOf } from '../../../../src/file-checks.ts';
import { isLoopbackHost } from '../../../../src/lib/urls.ts';
import { hasChangingNames } from '../../../../src/settings/settings.ts';
import type { Config, LoadedConfig } from '../config/load-config.ts';
import { findPartsOfKinds, partOf } from '../config/parts.ts';
import { type Problem, problemOf } from '../config/problem.ts';
import { SETTINGS_TABLE } from '../config/settings.ts';

type Rule = [isBroken: boolean, path: string, clause: string];

export const findWarnings = ({ config, locate }: LoadedConfig): Problem[] =>
  [...listExposure(config), ...listUnreachable(config), ...listCombinations(config)]
    .filter(([isBroken]) => isBroken)
    .map(([, path, clause]) => problemOf(locate(path.split('.')), ` ${clause}`));

/** Returns rules about what others can see. */
function listExposure(config: Config): Rule[] {
  const { upstream, upstreams = {}, sandbox, isProduction, graphiql, introspection } = config;
  const services = [
    ...(upstream === undefined ? [] : [['upstream', upstream] as const]),
    ...Object.entries(upstreams).map(([name, { url }]) => [`upstreams.${name}.url`, url] as const),
  ];
  const servesAnyDocument = clientsOf(config).some(({ trustedDocuments }) => trustedDocuments !== 'enforce');
  return [
    ...services.map(([path, address]): Rule => {
      const { protocol, hostname } = new URL(address);
      const isExposed = protocol === 'http:' && !isLoopbackHost(hostname);
      return [isExposed, path, 'uses http, so API keys are sent unencrypted; use https'];
    }),
    [
      isProduction && sandbox !== undefined,
      'sandbox',
      'serves sample records with public API keys in production; set upstream',
    ],
    [isProduction && graphiql !== false, 'graphiql', 'is on in production; turn it off'],
    [
      isProduction && introspection && servesAnyDocument,
      'introspection',
      'is on in production, so clients can read the schema; turn it off',
    ],
    [
      isProduction && config.adminPort === undefined,
      'adminPort',
      'is not set, so metrics are served on the public port in production',
    ],
  ];
}

/** Returns the settings of the kinds of clients that are served. */
const clientsOf = ({ clients: { server, browser } }: Config) => [server || [], browser ?? []].flat();

/** Returns rules about clients and services that no request can reach. */
function listUnreachable(config: Config): Rule[] {
  const { clients, upstreams = {} } = config;
  const { tenants = {}, tenantKeys } = clients.browser ?? {};
  const selected = new Set([
    ...Object.values(tenants).flatMap((entry) => (typeof entry === 'object' && 'key' in entry ? [entry.upstream] : [])),
    ...Object.values(tenantKeys?.upstreams ?? {}),
  ]);
  return [
    [clientsOf(config).length === 0, 'clients.server', 'is off without clients.browser, so all requests are rejected'],
    ...Object.entries(upstreams).map(
      ([name, { default: isDefault, hosts, pathPrefix }]): Rule => [
        !isDefault && hosts === undefined && pathPrefix === undefined && !selected.has(name),
        `upstreams.${name}`,
        'is selected by no request and no tenant; set its default, hosts or pathPrefix',
      ],
    ),
  ];
}

/** Returns rules about settings that have no effect, or another one than intended, with the value of another setting. */
function listCombinations(config: Config): Rule[] {
  const { introspection, federation, rateLimits, workers } = config;
  const { attemptTimeoutMs, operationTimeoutMs, drainTimeoutMs } = config;
  const isLimited = clientsOf(config).some(({ rateLimit }) => rateLimit !== undefined);
  const { browser } = config.clients;
  const hasInbox = browser?.scopes?.some((scope) => scope.startsWith('inbox:')) === true;
  return [
    [
      hasInbox && browser?.rateLimit === undefined,
      'clients.browser.rateLimit',
      "is not set, so one person's inbox can use up the rate limit of the tenant's API key; set calls and perSeconds",
    ],
    [
      isLimited && workers !== 1 && rateLimits.store === 'memory',
      'rateLimits.store',
      'is memory, so each worker counts by itself and callers can exceed their limits; use redis',
    ],
    [
      introspection && typeof federation === 'object' && federation.routerSecret !== undefined,
      'federation.routerSecret',
      'has no effect, because introspection is on; turn introspection off',
    ],
    [
      operationTimeoutMs > drainTimeoutMs,
      'drainTimeoutMs',
      'is shorter than operationTimeoutMs, so a shutdown can cut off operations',
    ],
    ...listStoreRules(config),
    [
      hasChangingNames(config),
      'logSecret',
      'is not set, so the audit log names an API key in another way after each restart; set it',
    ],
    [
      config.idempotencyKeys === 'previous',
      'idempotencyKeys',
      'is previous, for the time in which version 1.0 runs too; remove it afterwards',
    ],
    [
      attemptTimeoutMs > operationTimeoutMs,
      'attemptTimeoutMs',
      'is longer than operationTimeoutMs, which is the upper bound',
    ],
  ];
}

function listStoreRules({ cache, rateLimits }: Config): Rule[] {
  const stores = { 'rateLimits.store': rateLimits.store, 'cache.store': cache ? cache.store : 'memory' };
  return Object.entries(stores).map(([path, store]): Rule => {
    const url = store === 'memory' || typeof store.redis.url !== 'string' ? null : URL.parse(store.redis.url);
    const isExposed = url?.protocol === 'redis:' && !isLoopbackHost(url.hostname);
    return [isExposed, `${path}.redis.url`, 'has no TLS, so its password is sent unencrypted; use rediss'];
  });
}

/** Returns a warning if the folder with tenants' keys is empty, and there are no others. */
export function findTenantWarnings({ config, locate }: LoadedConfig): Problem[] {
  const { tenants = {}, tenantKeys } = config.clients.browser ?? {};
  const directory = tenantKeys?.directory;
  if (directory === undefined || !existsSync(directory) || Object.keys(tenants).length > 0) {
    return [];
  }
  if (listSecrets(config).some(({ path }) => path.at(-1) === 'tenantKeys')) {
    return [];
  }
  const clause = `: the folder ${directory} contains no key, so all tokens are rejected`;
  return [problemOf(locate(['clients', 'browser', 'tenantKeys']), clause)];
}

/** Permission of users who are neither the owner nor in the group (POSIX). */
const OTHERS_READ = 0o004;

/** Returns a warning for each secret whose file every user of the machine can read. */
export const findSecretFileWarnings = ({ config, locate }: LoadedConfig): Problem[] =>
  listSecrets(config)
    .filter(({ file }) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats?.isFile() === true && (stats.mode & OTHERS_READ) !== 0;
    })
    .map(({ path, file }) => problemOf(locate(path), `: every user can read the file ${file}; remove that permission`));

const listSecrets = (config: Config) => findPartsOfKinds(partOf(SETTINGS_TABLE, config)).flatMap(listFilesOf);

/** Maximum number of documents that are named. */
const MAX_WARNINGS = 20;

/**
 * Returns a warning for each trusted document that would be rejected, and one if there are no documents but only those are served. A gateway starts
 * nevertheless, because it also serves apps that were released before or after it.
 */
export function findDocumentWarnings({ config, locate }: LoadedConfig, schema: GraphQLSchema): Problem[] {
  const documents = checkDocuments(config.trustedDocuments.manifests, schema, config);
  if (documents.length === 0) {
    const isEnforced = clientsOf(config).some(({ trustedDocuments }) => trustedDocuments === 'enforce');
    const location = locate(['trustedDocuments', 'manifests']);
    return isEnforced ? [problemOf(location, ' contain no document, so all operations are rejected')] : [];
  }
  const warnings = documents.flatMap(({ index, id, text, problem }): Problem[] => {
    const { place, name } = locate(['trustedDocuments', 'manifests', index]);
    return problem === undefined
      ? []
      : [{ place, sentence: `${name}: the document ${nameOf(id, text)} is rejected: ${problem}` }];
  });
  const distinct = [...new Map(warnings.map((warning) => [warning.sentence, warning])).values()]; // Manifests can have one document in several forms.
  const { length } = distinct;
  return length <= MAX_WARNINGS
    ? distinct
    : [
        ...distinct.slice(0, MAX_WARNINGS),
        { sentence: `${length - MAX_WARNINGS} more trusted documents are rejected.` },
      ];
}

/** Returns the name of a document's operation, or the beginning of its id. */
const nameOf = (id: string, text: string): string =>
  /^\s*(?:query|mutation)\s+(\w+)/m.exec(text)?.[1] ?? (id.length > 20 ? `${id.slice(0, 20)}…` : id);
