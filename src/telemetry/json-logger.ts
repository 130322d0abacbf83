// Writes log lines in the form that log stores understand.

import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LoggedError } from '../errors/logged-error.ts';

/** Property of the loggers that were created here. Their children inherit it, but don't own it. */
const STREAM = Symbol('stream');

interface JsonLogger extends Logger {
  [STREAM]?: DestinationStream;
}

/**
 * Creates a logger whose lines log stores understand without a mapping: JSON with the level as text and the time in ISO 8601. Lines have the
 * names of OpenTelemetry for the ids of a trace (`trace_id`, `span_id`), and no field `status`, which log stores take for the level.
 *
 * @param stream takes the lines. @default standard output
 * @param hidesErrorTexts whether lines have no messages of errors that modules and libraries write, which can quote values. @default false
 */
export function createJsonLogger(level: string, stream?: DestinationStream, hidesErrorTexts = false): Logger {
  const options = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    ...(hidesErrorTexts && { serializers: { err: withoutText } }),
  };
  return Object.assign(pino(options, stream), stream && { [STREAM]: stream });
}

/** Returns an error as `toLoggedError` does, without its message, which also begins its stack. */
function withoutText({ type, code, message, stack, cause }: LoggedError): object {
  const places = stack.slice(stack.indexOf(`: ${message}`) + `: ${message}`.length);
  return { type, code, stack: `${type}${places}`, ...(cause && { cause: withoutText(cause) }) };
}

/** Logger of a host: pino, that of Fastify, or another whose methods take fields and a message, such as `console`. */
export type HostLogger = Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message?: string) => void>;

type Line = Record<'time' | 'pid' | 'hostname', unknown> & { level: 'info' | 'warn' | 'error' | 'fatal'; msg?: string };

const isPino = (logger: HostLogger): logger is Logger => 'bindings' in logger;

/** Returns the logger if it is one of pino, or else one that passes lines of the level `info` and above to its methods. */
export function toPino(logger: HostLogger): Logger {
  function write(line: string): void {
    const { level, time: _, pid: __, hostname: ___, msg, ...fields }: Line = JSON.parse(line);
    logger[level === 'fatal' ? 'error' : level](fields, msg);
  }
  return isPino(logger) ? logger : createJsonLogger('info', { write });
}

/**
 * Returns a function that writes a line of the level `info`. Call it only if the logger has that level. For loggers of `createJsonLogger`, it does
 * so without pino: the line is the same, but takes two thirds of the time and a quarter of the garbage. Other loggers may redact or transform.
 */
export function infoWriterOf(logger: JsonLogger): (fields: object, message: string) => void {
  const stream = logger[STREAM];
  if (stream === undefined || !Object.hasOwn(logger, STREAM)) {
    return (fields, message) => logger.info(fields, message);
  }
  const bindings: unknown = Reflect.get(logger, pino.symbols.chindingsSym); // Text with the process and the host.
  const isoTime = createIsoClock();
  return (fields, message) => {
    let members: string;
    try {
      members = JSON.stringify(fields).slice(1, -1);
    } catch {
      logger.info(fields, message); // A plugin's value is not JSON.
      return;
    }
    stream.write(`{"level":"info","time":"${isoTime()}"${bindings},${members},"msg":${JSON.stringify(message)}}\n`);
  };
}

/** Creates a function that returns the time in ISO 8601. Formatting a date takes 1 % of a request's instructions, so it is done once per second. */
function createIsoClock(): () => string {
  let latest = { second: Number.NaN, text: '' };
  return () => {
    const now = Date.now();
    const second = Math.floor(now / 1_000);
    if (second !== latest.second) {
      latest = { second, text: new Date(second * 1_000).toISOString().slice(0, -'000Z'.length) };
    }
    return `${latest.text}${String(now - second * 1_000).padStart(3, '0')}Z`;
  };
}
