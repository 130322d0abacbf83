import type { Logger } from 'pino';
import { VERSION } from '../lib/version.ts';
import { findMemoryProblem } from '../server/process-limits.ts';
import { banner, listServices } from './banner.ts';
import type { Process } from './command.ts';
import type { Config } from './config/load-config.ts';
import type { RunningGateway } from './serve-gateway.ts';
import { catchStopSignals } from './signals.ts';

/** Gateway in this process, or in workers. */
interface Service extends RunningGateway {
  /** Number of processes that serve. */
  count: number;
  logger: Logger;
  /** Ends the workers immediately. */
  kill?(): void;
}

/** Logs and prints what is running, and waits for the signal to stop. */
export async function untilStopped(config: Config, service: Service, host: Process): Promise<void> {
  const { url, adminUrl, checkUpstream, count, logger, kill } = service;
  host.exitCode = 0; // A gateway that can't write its output is no failure.
  const stopped = shutdownSignal(host, kill); // First, because the reader of the banner may stop the process immediately.
  const upstreams = config.sandbox === undefined ? listServices(config, (each) => new URL(each).host) : ['sandbox'];
  logger.info({ version: VERSION, modules: config.modules, upstreams }, 'started');
  if (config.isProduction && config.sandbox !== undefined) {
    logger.warn('the sandbox serves sample records with public API keys in production: set upstream');
  }
  const memory = findMemoryProblem(config, count);
  if (memory !== undefined) {
    logger.warn(memory);
  }
  host.stdout.write(banner(config, { url, adminUrl, workers: count }));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    host.stderr.write(`${problem} Notigraph is running, but requests will fail until this is fixed.\n`);
  }
  await stopped;
  const hint = config.isProduction ? '' : ' Press Ctrl-C again to quit now.';
  host.stdout.write(`Shutting down: finishing in-flight requests.${hint}\n`);
}

/** Resolves at the first SIGINT or SIGTERM. The next one ends the process immediately. */
function shutdownSignal(host: Process, kill?: () => void): Promise<undefined> {
  return new Promise((resolve) =>
    catchStopSignals(host, {
      stop: () => resolve(undefined),
      quit() {
        kill?.();
        host.exit(1);
      },
    }),
  );
}
