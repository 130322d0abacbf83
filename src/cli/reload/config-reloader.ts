import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/create-config.ts';
import type { Place } from '../config/problem.ts';
import type { ReloadCounts } from './reload-counts.ts';
import { keepRestartSettings } from './restart-settings.ts';

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
