// Reloads the configuration while the gateway runs: when, what of it applies, and what is logged and counted.

import { closeSync, openSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { FileState, lookRepeatedly } from '../../../../src/files/file-watcher.ts';
import { fingerprintOf } from '../../../../src/files/text-file.ts';
import { caught } from '../../../../src/lib/caught.ts';
import { toSentence } from '../../../../src/settings/parse.ts';
import { counter, fileSamples, type MetricSamples } from '../../../../src/telemetry/metrics.ts';
import type { Process } from '../command.ts';
import { type Config, findAllConflicts } from './load-config.ts';
import { ConfigError, rejectProblems } from './problem.ts';
import { listRestartSettings, type SettingName } from './settings.ts';

type ReloadTrigger = 'SIGHUP' | 'file';

/** Returns the problems with their places, as fields of the log. */
const describeProblems = (error: unknown) =>
  error instanceof ConfigError
    ? error.problems.map(({ place, sentence }) => ({ ...place, problem: sentence }))
    : [{ problem: error instanceof Error ? error.message : String(error) }];

/**
 * Reloads the configuration at SIGHUP, and when its file changes, one reload at a time. Problems are logged; those that a change of the file still
 * has, once. A terminal that closes sends SIGHUP too: then the process stops, because its user could no longer see or stop it.
 *
 * @returns stops doing so when it is disposed
 */
export function followConfig({
  startup,
  load,
  apply,
  watch,
  counts,
  logger,
  hangups,
  host,
}: {
  /** Configuration that the process started with. */
  startup: Config;
  /** Reads the configuration again. @throws {ConfigError} with all problems */
  load(): Promise<Config>;
  /** Uses a valid configuration from now on. If it fails, the previous one stays in use. */
  apply(config: Config): Promise<void>;
  watch: ConfigWatch;
  counts: ReloadCounts;
  logger: Logger;
  /** Each SIGHUP of this process. */
  hangups: AsyncIterable<unknown>;
  host: Process;
}): Disposable {
  let { reloadSeconds } = startup;
  let queue = Promise.resolve();
  let lastProblems = '';
  let isDisposed = false;

  async function reload(trigger: ReloadTrigger): Promise<void> {
    try {
      watch.note();
      const { config, restartNeeded } = keepRestartSettings(startup, await load());
      await apply(config);
      reloadSeconds = config.reloadSeconds;
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

  function reject(error: unknown, trigger: ReloadTrigger): void {
    const problems = describeProblems(error);
    const text = JSON.stringify(problems);
    counts.add('rejected');
    if (trigger === 'SIGHUP' || text !== lastProblems) {
      logger.error({ trigger, problems }, 'the configuration was not reloaded: the previous one stays in use');
    }
    lastProblems = text;
  }

  const enqueue = (trigger: ReloadTrigger) => {
    queue = queue.then(() => (isDisposed ? undefined : reload(trigger)));
  };
  const looks = watch.start(
    () => reloadSeconds,
    () => enqueue('file'),
  );

  async function handleHangups(): Promise<void> {
    for await (const _ of hangups) {
      if (!isDisposed && isTerminalGone(host)) {
        host.emit('SIGTERM', 'SIGTERM');
      } else {
        enqueue('SIGHUP');
      }
    }
  }

  void handleHangups();
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      looks[Symbol.dispose]();
    },
  };
}

/** Whether the process was started on a terminal that it no longer has. */
const isTerminalGone = ({ stdin, stdout }: Process): boolean =>
  (stdin.isTTY || stdout.isTTY) && caught(Error, () => closeSync(openSync('/dev/tty', 'r'))) !== undefined;

/**
 * Returns a new configuration in which settings that need a restart have the values of the startup, and the names of those that have changed.
 *
 * @throws {ConfigError} in two cases: it has no upstream although the startup had one, because the previous upstream must not get the calls. Or its
 * settings contradict those that are kept, such as a cache in memory in a process with several workers
 */
function keepRestartSettings(startup: Config, next: Config) {
  const hadService = startup.sandbox === undefined;
  if (hadService && next.sandbox !== undefined) {
    throw new ConfigError(['No upstream is configured. Changing to the sandbox requires a restart.']);
  }
  const names = listRestartSettings();
  const keepsSandbox = !hadService && startup.sandbox !== next.sandbox;
  const config = withValuesOf(startup, next, keepsSandbox ? [...names, 'upstream', 'upstreams'] : names);
  rejectProblems(findAllConflicts(config).map(toSentence));
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
  const result = { ...config };
  Object.assign(result, Object.fromEntries(names.map((name) => [name, other[name]])));
  return result;
}

/** Counters of reloads. The configuration that a process starts with counts as loaded, but not as a reload. */
export class ReloadCounts {
  readonly #counts = { ok: 0, rejected: 0 };
  #invalidSince = 0;

  add(result: 'ok' | 'rejected'): void {
    this.#counts[result] += 1;
    this.#invalidSince = result === 'ok' ? 0 : this.#invalidSince || Date.now() / 1_000;
  }

  snapshot(): MetricSamples[] {
    return [
      counter(
        'notigraph_config_reloads_total',
        'Reloads of the configuration: applied, or rejected as a whole.',
        Object.entries(this.#counts).map(([result, count]) => [{ result }, count]),
      ),
      ...fileSamples([{ name: 'configuration', invalidSince: () => this.#invalidSince }]),
    ];
  }
}

/** Watch on the files that a configuration can be in. It looks at an interval, because notifications of the file system miss the mounts of orchestrators. */
export class ConfigWatch {
  readonly #paths = new Set<string>();
  #state = new FileState(() => '');

  /** Watches these files too, which may be absent. If one is new, the current state of all counts as read. */
  watch(paths: Iterable<string>): void {
    const { size } = this.#paths;
    for (const path of paths) {
      this.#paths.add(path);
    }
    if (this.#paths.size > size) {
      this.#state = new FileState(() => fingerprintOf([...this.#paths]));
    }
  }

  /** Notes that the current state of the files is about to be read. */
  note(): void {
    this.#state.note();
  }

  /**
   * Starts to look for changes. Stops when the result is disposed.
   *
   * @param everySeconds returns the interval
   */
  start(everySeconds: () => number, onChange: () => void): Disposable {
    return lookRepeatedly(() => {
      const state = this.#state.look();
      if (state === 'changed') {
        onChange();
      }
      return state === 'changing';
    }, everySeconds);
  }
}
