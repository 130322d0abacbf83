// What the gateway prints when it has started.

import { VERSION } from '../../../src/lib/installation.ts';
import { SHIPPED_MODULES } from '../../../src/modules/shipped.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/environments.ts';
import type { Config } from './config/load-config.ts';

/**
 * Writes the text that is printed at startup.
 *
 * @param url URL of the GraphQL endpoint
 * @param adminUrl address of the separate port for health checks and metrics; undefined if they are on the same port
 */
export function banner(config: Config, url: string, adminUrl: string | undefined, workers: number): string {
  const { graphiql, sandbox, cache, clients, mcp, modules, source } = config;
  const { store } = cache || {};
  const probes = adminUrl ?? new URL(url).origin;
  const kinds = [
    ...(clients.server === false ? [] : ['servers with a key']),
    ...(clients.browser === undefined ? [] : ['browsers with a token']),
  ];
  const service =
    sandbox === undefined
      ? listServices(config).join(NEXT_LINE)
      : `built-in sandbox, ${sandbox === ':memory:' ? 'data is kept in memory' : `data is kept in ${sandbox}`}`;
  const rows = {
    GraphQL: url,
    GraphiQL: graphiql ? `${url} in a browser` : 'off (--graphiql on)',
    ...(mcp !== undefined && { Tools: `${new URL('/mcp', url).href} for AI agents` }),
    Upstream: service,
    ...(store !== undefined && { Cache: store === 'memory' ? 'in memory' : 'in Redis' }),
    ...(modules.length > 0 && { Modules: describeModules(config) }),
    Config: source ?? 'none (no notigraph.config.yaml here)',
    Workers:
      workers > 1
        ? `${workers} processes`
        : store === 'memory'
          ? 'one process'
          : 'one process; --workers auto starts one per CPU',
    Clients: kinds.join(', ') || 'none',
    Metrics: `${probes}/metrics`,
    Health: `${probes}/livez, ${probes}/readyz`,
  };
  const lines = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(11)}${value}`);
  return [`Notigraph ${VERSION}`, '', ...lines, '', ...writeExample(config, url), ''].join('\n');
}

/** Begins another line of a row. */
const NEXT_LINE = `\n${' '.repeat(13)}`;

/** Returns the names of the modules, and how a service gets those that the sandbox has by itself. */
function describeModules({ sandbox, modules }: Config): string {
  const names = modules.join(', ');
  return sandbox === undefined || names !== SHIPPED_MODULES.join(', ')
    ? names
    : `${names.replaceAll(', notigraph/modules', ', ')}${NEXT_LINE}only with the sandbox; for a real service, set --modules ${modules[0]},…`;
}

/** Returns the address of the service, or the names and addresses of several. @param show returns the part of an address that is shown */
export const listServices = ({ upstream, upstreams = {} }: Config, show = (url: string) => url): string[] => [
  ...(upstream === undefined ? [] : [show(upstream)]),
  ...Object.entries(upstreams).map(([name, { url }]) => `${name}: ${show(url)}`),
];

/** Returns the lines with a command to try, which end with an empty line; none in production. */
function writeExample({ clients: { server, browser }, sandbox, isProduction }: Config, url: string): string[] {
  if (isProduction || (server === false && browser === undefined)) {
    return [];
  }
  if (server === false) {
    return ['To try it, send a query with a token: see docs/frontend.md.', ''];
  }
  if (server.trustedDocuments === 'enforce') {
    return ['To try it, send the id of a trusted document as "documentId", with the variables it needs.', ''];
  }
  const key = sandbox === undefined ? '<your key>' : SANDBOX_KEYS.development;
  const headers = `-H 'Authorization: ApiKey ${key}' -H 'Content-Type: application/json'`;
  return ['Try it:', '', `  curl -s ${url} ${headers} -d '{"query":"{ notificationGroups { id name } }"}'`, ''];
}
