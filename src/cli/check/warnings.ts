import { routerSecretOf } from '../../graphql/federation/router-secret.ts';
import { isLoopbackHost } from '../../lib/urls.ts';
import type { Config } from '../config/create-config.ts';
import type { CheckedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Settings that are valid, but probably not intended. */
type Rule = [isBroken: boolean, path: string, clause: string];

/** Returns warnings about settings and their combinations. */
export function findWarnings({ config, locate }: CheckedConfig): Problem[] {
  return [...listExposure(config), ...listUnreachable(config), ...listCombinations(config)].flatMap(
    ([isBroken, path, clause]) => {
      if (!isBroken) {
        return [];
      }
      const { place, name } = locate(path.split('.'));
      return [{ place, sentence: `${name} ${clause}.` }];
    },
  );
}

/** Returns rules about what others can see. */
function listExposure(config: Config): Rule[] {
  const { upstream, upstreams = {}, isProduction, graphiql, introspection, clients } = config;
  const services = [
    ...(upstream.kind === 'service' ? [['upstream', upstream.url] as const] : []),
    ...Object.entries(upstreams).map(([name, { url }]) => [`upstreams.${name}.url`, url] as const),
  ];
  const servesAnyDocument = [clients.server, clients.browser].some(
    (client) => client && client.trustedDocuments !== 'enforce',
  );
  return [
    ...services.map(
      ([path, { protocol, hostname }]): Rule => [
        protocol === 'http:' && !isLoopbackHost(hostname),
        path,
        'uses http, so API keys are sent unencrypted; use https',
      ],
    ),
    [
      isProduction && upstream.kind === 'sandbox',
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
      isProduction && config.metrics && config.adminPort === undefined,
      'metrics',
      'are served on the public port in production; set adminPort',
    ],
  ];
}

/** Returns rules about clients and services that no request can reach. */
function listUnreachable({ clients, upstreams = {} }: Config): Rule[] {
  const { tenants = {}, tenantKeys } = clients.browser || {};
  const selected = new Set([
    ...Object.values(tenants).flatMap((entry) => (typeof entry === 'object' && 'key' in entry ? [entry.upstream] : [])),
    ...Object.values(tenantKeys?.upstreams ?? {}),
  ]);
  return [
    [
      !clients.server && !clients.browser,
      'clients.server',
      'is off without clients.browser, so all requests are rejected',
    ],
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
  const { clients, rateLimits, workers, operationTimeoutMs, attemptTimeoutMs, headersTimeoutMs } = config;
  const isLimited = [clients.server, clients.browser].some((client) => client && client.rateLimit !== undefined);
  return [
    [
      isLimited && workers !== 1 && rateLimits.store === 'memory',
      'rateLimits.store',
      'is memory, so each worker counts by itself and callers can exceed their limits; use redis',
    ],
    [
      config.introspection && routerSecretOf(config) !== undefined,
      'federation.routerSecret',
      'has no effect, because introspection is on; turn introspection off',
    ],
    [
      attemptTimeoutMs > operationTimeoutMs,
      'attemptTimeoutMs',
      'is longer than operationTimeoutMs, which ends every request before',
    ],
    [
      headersTimeoutMs > attemptTimeoutMs,
      'headersTimeoutMs',
      'is longer than attemptTimeoutMs, which ends every request before',
    ],
    [
      operationTimeoutMs > config.drainTimeoutMs,
      'drainTimeoutMs',
      'is shorter than operationTimeoutMs, so a shutdown can cut off operations',
    ],
    [
      config.retryBaseDelayMs > config.retryMaxDelayMs,
      'retryBaseDelayMs',
      'is longer than retryMaxDelayMs, which is the upper bound',
    ],
    [
      config.breakerOpenMs > config.breakerMaxOpenMs,
      'breakerOpenMs',
      'is longer than breakerMaxOpenMs, which is the upper bound',
    ],
  ];
}
