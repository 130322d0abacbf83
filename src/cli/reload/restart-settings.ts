import { isDeepStrictEqual } from 'node:util';
import { findConflicts } from '../../settings/conflicts.ts';
import { listRestartSettings } from '../../settings/settings.ts';
import { ConfigError } from '../config/config-error.ts';
import { type Config, type ConfigOrigin, createConfig } from '../config/create-config.ts';
import { countWorkers } from '../count-workers.ts';

/** Configuration that a running process can apply, and what it can't. */
export interface ReloadableConfig {
  /** The new configuration, in which settings that need a restart have the values of the startup. */
  config: Config;
  /** Names of changed settings that need a restart. */
  restartNeeded: readonly string[];
}

/**
 * Compares a new configuration with that of the startup.
 *
 * @throws {ConfigError} if it has no upstream, and the process has no sandbox: calls must not go to the upstream of the startup again. Also if it
 * contradicts settings of the startup: the cache in memory, in a process that has several workers
 */
export function keepRestartSettings(startup: Config, next: Config): ReloadableConfig {
  if (startup.upstream.kind !== 'sandbox' && next.upstream.kind === 'sandbox') {
    throw new ConfigError(['No upstream is configured. Changing to the sandbox requires a restart.']);
  }
  const names = listRestartSettings();
  const isService = startup.upstream.kind !== 'sandbox';
  const hasUpstream = isService || isDeepStrictEqual(startup.upstream, next.upstream);
  const isChanged = (name: string) => !isDeepStrictEqual(settingOf(startup, name), settingOf(next, name));
  const kept = hasUpstream ? names : [...names, 'upstream', 'upstreams'];
  const config = createConfig({ ...next, values: mergeValues(startup.values, next.values, kept) });
  const { upstream: _, ...withoutUpstream } = config; // Of another form than the setting.
  const conflicts = findConflicts({ ...withoutUpstream, workers: countWorkers(config.workers) });
  if (conflicts.length > 0) {
    throw new ConfigError(conflicts.map((clause) => `${clause}.`));
  }
  return {
    config,
    restartNeeded: [
      ...(hasUpstream ? [] : [next.upstream.kind === 'sandbox' ? 'sandbox' : 'upstream']),
      ...names.filter((name) => name !== 'sandbox' && isChanged(name)),
    ],
  };
}

const settingOf = (values: object, name: string): unknown => Reflect.get(values, name);

type Values = ConfigOrigin['values'];

/** Returns the new settings, except for those with the given names, which are the old ones. */
function mergeValues(old: Values, next: Values, names: readonly string[]): Values {
  const isKept = ([name]: [string, unknown]) => names.includes(name);
  return Object.fromEntries([
    ...Object.entries(next).filter((entry) => !isKept(entry)),
    ...Object.entries(old).filter(isKept),
  ]);
}
