import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';

/**
 * Creates a logger whose lines log stores understand without a mapping: JSON with the level as text and the time in ISO 8601. Lines have the
 * names of OpenTelemetry for the ids of a trace (`trace_id`, `span_id`), and no field `status`, which log stores take for the level.
 *
 * @param stream takes the lines. @default standard output
 */
export const createJsonLogger = (level: string, stream?: DestinationStream): Logger =>
  pino({ level, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } }, stream);
