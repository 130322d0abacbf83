// Creates the log of the process, and writes its lines without blocking when their reader is slow.

import { writeSync } from 'node:fs';
import type { DestinationStream, Logger } from 'pino';
import { errorCodeOf } from '../../../src/lib/caught.ts';
import { pauseSync } from '../../../src/lib/promises.ts';
import { createJsonLogger } from '../../../src/telemetry/json-logger.ts';
import type { Process } from './command.ts';
import type { Config } from './config/load-config.ts';
import { formatLogLine } from './readable-log.ts';

/** Creates the logger of the process: JSON lines, or readable ones if `logFormat` asks for them. */
export function createLogger(
  config: Pick<Config, 'isProduction' | 'workers' | 'logLevel' | 'logFormat' | 'logErrorTexts'>,
  host: Pick<Process, 'on'>,
  stream: NodeJS.WriteStream & { fd: number },
): Logger {
  const { isProduction, workers, logLevel, logFormat, logErrorTexts } = config;
  const isText = logFormat === 'text' || (logFormat === 'auto' && stream.isTTY && !isProduction);
  const format = isText ? (line: string) => formatLogLine(line, stream, workers !== 1) : undefined;
  const write = (line: string) => void stream.write(format ? format(line) : line);
  return createJsonLogger(logLevel, stream.isTTY ? { write } : createLogStream(host, stream, format), !logErrorTexts);
}

/** Returns the dependency of a gateway that logs calls of modules which explanations don't list. In production, calls are not checked. */
export const logUndeclaredCalls = ({ isProduction }: Pick<Config, 'isProduction'>, logger: Logger) =>
  isProduction ? {} : { onUndeclaredCall: (problem: string) => logger.warn(problem) };

/** Maximum bytes per write. A pipe takes up to this many as a whole or not at all (`PIPE_BUF`), so that lines of several workers don't mix. */
const MAX_WRITE = 4_096;

/** Minimum time between two writes, in milliseconds. Under load, a write takes the lines of several turns of the event loop. */
const INTERVAL_MS = 2;

/** Interval at which text is written again that a slow reader hasn't taken, in milliseconds. */
const RETRY_MS = 20;

/** Maximum time for which the end of the process waits for a slow reader, in milliseconds. Lines that wait longer are lost. */
const MAX_EXIT_MS = 5_000;

/** Maximum bytes that wait for a slow reader. Lines beyond it are dropped, so that a reader that stops doesn't take all memory. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Message of the line that stands for dropped ones. */
const DROPPED = 'log lines were dropped, because the reader of the output is slower than the log';

const LINE_BREAK = '\n'.charCodeAt(0);

/**
 * Creates the stream that the lines of the log are written to, unless they go to a terminal. It passes on the lines of one turn of the event
 * loop together, because a write takes longer than creating a line.
 *
 * It writes synchronously, because a write in progress could neither be awaited nor be continued when the process exits. What a slow reader
 * doesn't take waits in memory, without blocking the process. If that is too much, further lines are dropped, and a line tells how many.
 *
 * @param output standard output or standard error
 * @param format formats a line. @default JSON, as it is
 */
export function createLogStream(
  host: Pick<Process, 'on'>,
  { fd }: { fd: number },
  format = (line: string): string => line,
  maxWaitingBytes = MAX_WAITING_BYTES,
): DestinationStream {
  let lines = '';
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let passedAt = 0;
  let retry: NodeJS.Timeout | undefined;

  /** Writes what the reader takes now. Returns whether that is everything. */
  function write(): boolean {
    try {
      for (let text = waiting[0]; text !== undefined; text = waiting[0]) {
        const written = writeSync(fd, text, 0, lengthOfWrite(text));
        const rest = text.subarray(written);
        waitingBytes -= written;
        if (rest.length > 0) {
          waiting[0] = rest;
        } else {
          waiting.shift();
        }
      }
    } catch (error) {
      if (isBusy(error)) {
        return false;
      }
      waiting = []; // Nobody reads it any more, or it can't be stored.
      waitingBytes = 0;
    }
    return true;
  }

  function reportDropped(): void {
    if (dropped > 0) {
      const count = dropped;
      dropped = 0;
      reporter.warn({ dropped: count }, DROPPED);
    }
  }

  function append(line: string): void {
    if (lines === '') {
      passSoon();
    }
    lines += format(line);
  }

  const reporter = createJsonLogger('warn', { write: append }); // Its lines are never dropped.

  function pass(): void {
    if (lines !== '') {
      const text = Buffer.from(lines);
      waiting.push(text);
      waitingBytes += text.length;
      lines = '';
      passedAt = performance.now();
    }
    if (retry === undefined) {
      writeUntilTaken();
    }
  }

  function passSoon(): void {
    const ms = passedAt + INTERVAL_MS - performance.now();
    if (ms > 0) {
      setTimeout(pass, ms).unref();
    } else {
      setImmediate(pass);
    }
  }

  function writeUntilTaken(): void {
    if (write()) {
      retry = undefined;
      reportDropped();
    } else {
      retry = setTimeout(writeUntilTaken, RETRY_MS).unref();
    }
  }

  /** Blocks until everything is written, but not longer than the exit may take. */
  function flushSync(): void {
    const endAt = performance.now() + MAX_EXIT_MS;
    reportDropped();
    pass();
    while (!write() && performance.now() < endAt) {
      pauseSync(RETRY_MS);
    }
  }

  host.on('exit', flushSync);
  return {
    write(line) {
      if (waitingBytes + lines.length > maxWaitingBytes) {
        dropped += 1;
      } else {
        append(line);
      }
    },
  };
}

/** Returns the number of bytes to write next: whole lines up to `MAX_WRITE`, or one longer line. */
function lengthOfWrite(text: Buffer): number {
  const lastBreak = text.length <= MAX_WRITE ? text.length - 1 : text.lastIndexOf(LINE_BREAK, MAX_WRITE - 1);
  return (lastBreak < 0 ? text.indexOf(LINE_BREAK) : lastBreak) + 1;
}

/** Whether the reader is slow, so that a later write may succeed. */
const isBusy = (error: unknown): boolean => ['EAGAIN', 'EBUSY'].includes(String(errorCodeOf(error)));
