import { closeSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { NEXT_LOOK_MS } from '../../lib/files/file-watcher.ts';
import { fileFingerprint } from '../../lib/files/text-file.ts';
import { findConflicts } from '../../settings/conflicts.ts';
import { toSentence } from '../../settings/parse.ts';
import { listRestartSettings, type SettingName } from '../../settings/settings.ts';
import { counter, gauge, type MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import type { Host } from '../command.ts';
import type { Hangups } from '../hangups.ts';
import type { Config } from './load-config.ts';
import { ConfigError, type Place } from './problem.ts';

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

/** Watch on the files that a configuration can be in. */
export interface ConfigWatch {
  /** Notes that the current state of the files is about to be read. */
  note(): void;
  /** Starts to look for changes. Stops when the result is disposed. */
  start(options: WatchOptions): Disposable;
}

/** Options of `start`. */
export interface WatchOptions {
  /** Returns the interval of looks, in seconds. */
  everySeconds(): number;
  onChange(): void;
}

/**
 * Creates a watch. It looks at the files at an interval, because notifications of the file system miss the mounts of orchestrators.
 *
 * @param paths files, which may be absent
 */
export function watchConfig(paths: readonly string[]): ConfigWatch {
  const look = () => paths.map(fileFingerprint).join('\n');
  let read = look();
  let last = read;
  return {
    note() {
      read = look();
    },
    start({ everySeconds, onChange }) {
      let timer: NodeJS.Timeout;
      function schedule(milliseconds: number): void {
        timer = setTimeout(check, milliseconds).unref();
      }
      function check(): void {
        const found = look();
        const isSettled = found === last;
        last = found;
        if (found === read) {
          schedule(everySeconds() * 1_000);
        } else if (isSettled) {
          schedule(everySeconds() * 1_000);
          onChange();
        } else {
          schedule(NEXT_LOOK_MS); // It may still be written.
        }
      }
      schedule(everySeconds() * 1_000);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
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
 * @throws {ConfigError} if the service is removed, because calls must not go to that of the startup again. Also if settings contradict those that
 * are kept, such as a cache in memory in a process that has several workers
 */
export function keepRestartSettings(startup: Config, next: Config): ReloadableConfig {
  const hadService = startup.sandbox === undefined;
  if (hadService && next.sandbox !== undefined) {
    throw new ConfigError(['No upstream is configured. Changing to the sandbox requires a restart.']);
  }
  const names = listRestartSettings();
  const keepsSandbox = !hadService && startup.sandbox !== next.sandbox;
  const config = withValuesOf(startup, next, keepsSandbox ? [...names, 'upstream', 'upstreams'] : names);
  const conflicts = findConflicts(config);
  if (conflicts.length > 0) {
    throw new ConfigError(conflicts.map(toSentence));
  }
  const isChanged = (name: SettingName) => !isDeepStrictEqual(startup[name], next[name]);
  return {
    config,
    restartNeeded: [
      ...(keepsSandbox ? [next.sandbox === undefined ? 'upstream' : 'sandbox'] : []),
      ...names.filter((name) => name !== 'sandbox' && isChanged(name)),
    ],
  };
}

/** Returns a configuration in which settings have the values of another one. */
function withValuesOf(other: Config, config: Config, names: readonly SettingName[]): Config {
  const result: Writable<Config> = { ...config };
  const copy = <Name extends SettingName>(name: Name) => {
    result[name] = other[name];
  };
  names.forEach(copy);
  return result;
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

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
