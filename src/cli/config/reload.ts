import { closeSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { findConflicts } from '../../settings/conflicts.ts';
import { listRestartSettings } from '../../settings/settings.ts';
import { counter, gauge, type MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import type { Host } from '../command.ts';
import { countWorkers } from '../count-workers.ts';
import type { Hangups } from '../hangups.ts';
import { type Config, type ConfigOrigin, createConfig } from './create-config.ts';
import { ConfigError, type Place } from './problem.ts';
import type { ConfigWatch } from './watch-config.ts';

/** Reason for a reload. */
export type ReloadTrigger = 'SIGHUP' | 'file';

/** Problem of the configuration, as fields of the log. */
interface LoggedProblem extends Partial<Place> {
  problem: string;
}

/** Options of `createConfigReloader`. */
export interface ReloaderOptions {
  /** Configuration that the process started with. */
  startup: Config;
  /** Reads the configuration again. @throws {ConfigError} with all problems */
  load(): Config;
  /** Uses a valid configuration from now on. If it fails, the previous one stays in use. */
  apply(config: Config): Promise<void>;
  counts: ReloadCounts;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Reloads the configuration of a running process, one reload at a time. */
export interface ConfigReloader {
  /** Reads the configuration, and applies it if it is valid. Problems are logged; those that a change of the file still has, once. */
  reload(trigger: ReloadTrigger): Promise<void>;
}

/** Creates a reloader. */
export function createConfigReloader({ startup, load, apply, counts, logger }: ReloaderOptions): ConfigReloader {
  let queue = Promise.resolve();
  let lastProblems = '';

  function reject(error: unknown, trigger: ReloadTrigger): void {
    const problems = describeProblems(error);
    const text = JSON.stringify(problems);
    counts.add('rejected');
    if (trigger === 'SIGHUP' || text !== lastProblems) {
      logger.error({ trigger, problems }, 'the configuration was not reloaded: the previous one stays in use');
    }
    lastProblems = text;
  }

  async function run(trigger: ReloadTrigger): Promise<void> {
    try {
      const { config, restartNeeded } = keepRestartSettings(startup, load());
      await apply(config);
      lastProblems = '';
      counts.add('ok');
      logger.info({ trigger, source: config.source }, 'the configuration was reloaded');
      if (restartNeeded.length > 0) {
        logger.warn({ settings: restartNeeded }, 'changed settings take effect after a restart');
      }
    } catch (error) {
      reject(error, trigger);
    }
  }

  return {
    reload(trigger) {
      queue = queue.then(() => run(trigger));
      return queue;
    },
  };
}

/** Returns the problems with their places, as fields of the log. */
function describeProblems(error: unknown): readonly LoggedProblem[] {
  return error instanceof ConfigError
    ? error.problems.map(({ place, sentence }) => ({ ...place, problem: sentence }))
    : [{ problem: error instanceof Error ? error.message : String(error) }];
}

/** Options of `followConfig`. */
export interface FollowOptions extends ReloaderOptions {
  watch: ConfigWatch;
  hangups: Hangups;
  host: Host;
}

/**
 * Reloads the configuration at SIGHUP, and when its file changes. A terminal that closes sends SIGHUP too: then the process stops, because
 * its user could no longer see or stop it.
 *
 * @returns stops doing so when it is disposed
 */
export function followConfig({ watch, hangups, host, ...options }: FollowOptions): Disposable {
  let { reloadSeconds } = options.startup;
  const reloader: ConfigReloader = createConfigReloader({
    ...options,
    load() {
      watch.note();
      return options.load();
    },
    async apply(config) {
      await options.apply(config);
      reloadSeconds = config.reloadSeconds;
    },
  });
  const looks = watch.start({ everySeconds: () => reloadSeconds, onChange: () => void reloader.reload('file') });
  const handling = hangups.handle(() => {
    if (isTerminalGone(host)) {
      host.emit('SIGTERM', 'SIGTERM');
    } else {
      void reloader.reload('SIGHUP');
    }
  });
  return {
    [Symbol.dispose]() {
      looks[Symbol.dispose]();
      handling[Symbol.dispose]();
    },
  };
}

/** Whether the process was started on a terminal that it no longer has. */
function isTerminalGone({ stdin, stdout }: Host): boolean {
  if (!stdin.isTTY && !stdout.isTTY) {
    return false;
  }
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

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

/** Counters of reloads. */
export interface ReloadCounts {
  /** Counts a reload. */
  add(result: 'ok' | 'rejected'): void;
  /** Returns the metrics so far. */
  snapshot(): MetricSamples[];
}

/** Creates the counters. The configuration that a process starts with counts as loaded, but not as a reload. */
export function createReloadCounts(now: () => number = Date.now): ReloadCounts {
  const counts = { ok: 0, rejected: 0 };
  let lastOkAt = now();
  return {
    add(result) {
      counts[result] += 1;
      if (result === 'ok') {
        lastOkAt = now();
      }
    },
    snapshot: () => [
      counter(
        'notigraph_config_reloads_total',
        'Reloads of the configuration: applied, or rejected as a whole.',
        Object.entries(counts).map(([result, count]) => [{ result }, count]),
      ),
      gauge(
        'notigraph_config_last_reload_seconds',
        'Time at which the configuration in use was loaded, in seconds since the Unix epoch.',
        lastOkAt / 1_000,
        'max',
      ),
    ],
  };
}
