import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config/load-config.ts';

/** Creates a logger that writes JSON lines, or readable lines to a terminal outside of production. */
export function createLogger({ isProduction, workers }: Config, isTerminal: boolean): Logger {
  const ignore = workers === 1 ? 'pid,hostname' : 'hostname';
  return isTerminal && !isProduction ? pino(pretty({ ignore, singleLine: true, sync: true })) : pino();
}
