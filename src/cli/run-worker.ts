import type { Logger } from 'pino';
import type { Process } from './command.ts';
import type { Config } from './config/load-config.ts';
import { createLogger } from './create-logger.ts';
import { explainFailure } from './explain-failure.ts';
import { serveGateway } from './serve-gateway.ts';
import type { WorkerRole } from './workers/worker.ts';

/** Serves as one of several workers, until the primary stops it or lets it retire. The primary also sends its configuration. */
export async function runWorker(role: WorkerRole, host: Process): Promise<void> {
  host.on('SIGINT', () => {}); // A terminal sends it to the primary too, which tells the first from the second.
  host.on('SIGTERM', () => void role.report('terminated', undefined)); // The primary knows whether others stay.
  try {
    const config = await role.configuration();
    if (config !== undefined) {
      await serve(config, role, host);
    }
  } catch (error) {
    const { message, exitCode } = explainFailure(error);
    await role.report('refused', message);
    host.exitCode = exitCode;
  }
  await role.leave();
}

async function serve(config: Config, role: WorkerRole, host: Process): Promise<void> {
  const logger: Logger = createLogger(config, host, host.stdout);
  await serveGateway(config, { role, logger, host }, async (service, server) => {
    await role.report('listening', service.url);
    if (role.id === 1) {
      await role.report('checked', await Promise.race([service.checkUpstream(), role.stopped]));
    }
    await Promise.race([role.retired.then(server.retire), role.stopped]);
  });
}
