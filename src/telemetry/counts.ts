import type { Logger } from 'pino';
import { type AuditCounts, createAuditCounts } from './audit-counts.ts';
import { type ClientCounts, createClientCounts } from './client-counts.ts';
import { createCounterMemory } from './counter-memory.ts';
import { createDeprecatedCounts, type DeprecatedCounts } from './deprecated-counts.ts';
import { createDriftReport, type DriftReport } from './drift-report.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';

/** Counts of a gateway, which the gateway that replaces it continues. */
export interface Counts {
  metrics: GatewayMetrics;
  drift: DriftReport;
  clients: ClientCounts;
  deprecated: DeprecatedCounts;
  audit: AuditCounts;
}

/**
 * Creates the counts of the first gateway.
 *
 * @param memory memory of the counters. By default, no other process reads it
 */
export const createCounts = (logger: Logger, memory = createCounterMemory()): Counts => ({
  metrics: createGatewayMetrics(memory),
  drift: createDriftReport(logger, memory),
  clients: createClientCounts(memory),
  deprecated: createDeprecatedCounts(memory),
  audit: createAuditCounts(memory),
});
