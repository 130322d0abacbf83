import { suggest } from '../../settings/setting.ts';
import type { Config } from '../config/load-config.ts';
import { ConfigError } from '../config/problem.ts';

/** Settings of a service, with those that all services share. */
export type ServiceSettings = Omit<Config, 'upstream' | 'upstreams'>;

/**
 * Returns the service that a command works with, and its settings.
 *
 * @param options.name name of the service, if the configuration has several
 * @param options.purpose words that follow "There is no service"
 * @throws {ConfigError} if there is none, none with the name, or several and none is named
 */
export function findService(
  { upstream, upstreams = {}, ...settings }: Config,
  { name, purpose }: { name: string | undefined; purpose: string },
): { url: URL; settings: ServiceSettings } {
  const selected = selectUpstream(Object.keys(upstreams), name);
  if (upstream !== undefined) {
    return { url: new URL(upstream), settings };
  }
  const entry = selected === undefined ? undefined : upstreams[selected];
  if (entry === undefined) {
    throw new ConfigError([
      `There is no service ${purpose}. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address.`,
    ]);
  }
  const { url, ...overrides } = entry;
  return { url: new URL(url), settings: { ...settings, ...overrides } };
}

/**
 * Returns the name of the upstream that a command works with; undefined if there are no names.
 *
 * @param name name on the command line; undefined if there is none
 * @param fallback upstream if there are several and none is named. @default none
 * @throws {ConfigError} if there is none with the name, or several and none is named
 */
export function selectUpstream(
  names: readonly string[],
  name: string | undefined,
  fallback?: string,
): string | undefined {
  if (name !== undefined && !names.includes(name)) {
    const choice = names.length === 0 ? 'The configuration has no upstreams.' : `Use one of: ${names.join(', ')}.`;
    throw new ConfigError([`--name: there is no service "${name}"${suggest(name, names)}. ${choice}`]);
  }
  const selected = name ?? (names.length === 1 ? names[0] : fallback);
  if (selected === undefined && names.length > 0) {
    throw new ConfigError([`There are several services. Name one with --name: ${names.join(', ')}.`]);
  }
  return selected;
}
