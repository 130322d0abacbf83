import type { Logger } from 'pino';
import { createJsonLogger } from '../telemetry/json-logger.ts';
import type { Process } from './command.ts';
import type { Config } from './config/load-config.ts';
import { createLogStream } from './log-stream.ts';
import { formatLogLine } from './readable-log.ts';

/** Creates the logger of the process: JSON lines, or readable ones if `logFormat` asks for them. */
export function createLogger(
  { isProduction, workers, logLevel, logFormat }: Pick<Config, 'isProduction' | 'workers' | 'logLevel' | 'logFormat'>,
  host: Pick<Process, 'on'>,
  stream: NodeJS.WriteStream & { fd: number },
): Logger {
  const isText = logFormat === 'text' || (logFormat === 'auto' && stream.isTTY && !isProduction);
  const hasPid = workers !== 1;
  const format = isText && ((line: string) => formatLogLine(line, { hasPid, stream }));
  const write = (line: string) => void stream.write(format ? format(line) : line);
  return createJsonLogger(logLevel, stream.isTTY ? { write } : createLogStream(host, stream, format ? { format } : {}));
}

/** Returns the dependency of a gateway that logs calls of modules which explanations don't list. In production, calls are not checked. */
export const logUndeclaredCalls = ({ isProduction }: Pick<Config, 'isProduction'>, logger: Logger) =>
  isProduction ? {} : { onUndeclaredCall: (problem: string) => logger.warn(problem) };
