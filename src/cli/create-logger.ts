import { type Logger, pino } from 'pino';
import type { Host } from './commands/command.ts';
import type { Config } from './config/create-config.ts';
import { createLogStream } from './log-stream.ts';
import { formatLogLine } from './readable-log.ts';

/** Creates a logger that writes JSON lines, or readable lines to a terminal outside of production. */
export function createLogger(
  { isProduction, workers, logLevel }: Pick<Config, 'isProduction' | 'workers' | 'logLevel'>,
  host: Pick<Host, 'on' | 'pid' | 'stdout'>,
): Logger {
  const { stdout } = host;
  if (isProduction || !stdout.isTTY) {
    return pino({ level: logLevel }, createLogStream(host));
  }
  const format = { hasPid: workers !== 1, stream: stdout };
  return pino({ level: logLevel }, { write: (line: string) => void stdout.write(formatLogLine(line, format)) });
}
