// Composes what a gateway tells its operators: log lines, metrics, traces and the audit log.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readSecret } from '../settings/kinds.ts';
import { type GatewaySettings, hasChangingNames } from '../settings/settings.ts';
import { createAuditLog } from './audit-log.ts';
import { type AccessLogEntry, createAccessLog, createTenantNames } from './logs/access-log.ts';
import { createCircuitLog, createEpisodeLog } from './logs/upstream-log.ts';
import { createCounts, samplesOf } from './metrics/gateway-metrics.ts';
import type { OperationTrace } from './traces/operation-trace.ts';
import { createTracing } from './traces/tracing.ts';

/** Creates the state of the first gateway, which those that replace it continue: the counts, and the secret for the names of tenants. */
export const createTelemetryState = (logger: Logger) => ({
  counts: createCounts(logger),
  logSecret: randomBytes(32).toString('hex'), // Default of the setting.
});

export type Telemetry = ReturnType<typeof createTelemetry>;

/**
 * Creates the telemetry of a gateway.
 *
 * @param state state of the gateway that it replaces
 * @param tenantOf returns the tenant that an API key belongs to, if it is one of the configuration's
 * @throws {AuditError} if the file of the audit log can't be opened
 */
export function createTelemetry(
  settings: GatewaySettings,
  { counts, logSecret }: ReturnType<typeof createTelemetryState>,
  tenantOf: (credential: string) => string | undefined,
  logger: Logger,
  now: () => Date,
) {
  const { metrics, deprecated } = counts;
  const nameTenant = createTenantNames(readSecret('logSecret', settings.logSecret ?? logSecret), tenantOf);
  if (hasChangingNames(settings)) {
    logger.warn('The audit log names an API key in another way after each restart. Set logSecret.');
  }
  const audit = settings.audit && createAuditLog(settings.audit, logger, counts.countAuditLine, nameTenant, now);
  const noteEpisode = createEpisodeLog(logger);
  const writeLine = createAccessLog(logger, nameTenant, settings.logSample);

  return {
    nameTenant,
    audit,
    /** Receivers of what happens to upstream calls. */
    receivers: { metrics, noteEpisode, audit, logsCalls: logger.isLevelEnabled('debug') },
    startTrace: createTracing(logger),
    /** Receivers of what happens to services, by the names of their upstreams. */
    reporters: {
      circuitReporterOf: createCircuitLog(logger, nameTenant, now),
      deviationReporterOf: counts.deviationReporterOf,
    },
    /** Records an operation, or a request that was rejected before it was one. Called with the response. */
    record(entry: AccessLogEntry, trace: OperationTrace | undefined): void {
      trace?.end(entry);
      counts.countClient(entry);
      deprecated.add(entry.deprecated ?? []);
      entry.results?.forEach(counts.countResult);
      metrics.operation(entry); // Before the log, so that logging doesn't count toward the operation's duration.
      writeLine(entry);
    },
    /** Returns all metrics so far, with the current values of what the gateway uses. */
    samples: (...used: Parameters<typeof samplesOf>) => [...metrics.snapshot(), ...samplesOf(...used)],
  };
}
