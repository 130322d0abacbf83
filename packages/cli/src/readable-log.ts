// Formats the lines of the log for people.

import { stripVTControlCharacters, styleText } from 'node:util';
import { z } from 'zod';
import { recordOf } from '../../../src/lib/is-record.ts';
import { countOf, withoutControls } from './text.ts';

/** Levels that are printed in another color and capital letters. */
const COLORS: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

/** Line of the log as `createJsonLogger` writes it. */
const line = z.looseObject({
  level: z.string(),
  time: z.iso.datetime(),
  pid: z.number().optional(),
  msg: z.string().default(''),
});

/** The fields of an operation that are always there. Others are printed as they are. */
const operation = z.looseObject({
  msg: z.literal('operation'),
  httpStatus: z.number(),
  ms: z.number(),
  upstreamCalls: z.number(),
  results: z.array(z.string()).optional(),
  calls: z.array(z.looseObject({ method: z.string(), route: z.string() })).optional(),
});

type Style = Parameters<typeof styleText>[0];

/**
 * Formats a JSON line of the log for people: one line per operation, with its REST calls beneath.
 *
 * @param stream stream that decides about colors
 * @param hasPid whether lines name their process, because several write to the same terminal. @default false
 */
export function formatLogLine(json: string, stream: NodeJS.WritableStream, hasPid = false): string {
  const parsed = line.safeParse(JSON.parse(json));
  if (!parsed.success) {
    return json;
  }
  const { level, time, pid, hostname: _, ...fields } = parsed.data;
  const style = (format: Style, text: string) => styleText(format, text, { stream });
  const head = style('dim', `${timeOf(time)}${hasPid ? ` [${pid}]` : ''}`);
  const { data } = operation.safeParse(fields);
  if (data === undefined) {
    const color = COLORS[level];
    const label = color === undefined ? style('dim', level) : style(color, level.toUpperCase());
    return `${head} ${label} ${formatFields(fields)}\n`;
  }
  const { type = 'request', code, reason, httpStatus, ms, upstreamCalls, cached, staleSeconds, calls = [] } = data;
  const results = data.results?.join(', ');
  const outcome = join(httpStatus, code, reason && `(${reason})`, results);
  const cost = [
    `${ms} ms`,
    countOf(upstreamCalls, 'call'),
    ...(cached === undefined ? [] : [`${cached} cached`]),
    ...(staleSeconds === undefined ? [] : [`up to ${staleSeconds} s old`]), // Used because the service failed.
  ].join(', ');
  const caller = join(data.clientKind, data.tenant);
  const main = [
    head,
    join(type, data.operation),
    style((code ?? results) === undefined ? 'green' : 'red', outcome),
    cost,
    ...(caller === '' ? [] : [style('dim', caller)]),
  ];
  const trace = data.calls && data.trace_id ? [`trace ${data.trace_id}`] : [];
  const beneath = [...trace, ...calls.map(formatCall)].map((each) => `${style('dim', `    ${each}`)}\n`);
  return `${main.join('  ')}\n${beneath.join('')}`;
}

/** Returns what is there of some values, with spaces between. */
const join = (...values: readonly unknown[]): string => values.filter(Boolean).join(' ');

function formatCall({
  method,
  route,
  httpStatus,
  code,
  ms,
  attempt = 1,
  shared,
  ageMs,
}: Record<string, unknown>): string {
  const time = ageMs === undefined ? (ms === undefined ? 'not finished' : `${ms} ms`) : `cached ${ageMs} ms ago`;
  const repeated = attempt === 1 ? '' : `attempt ${attempt}`;
  return [`${method} ${route}`, join(httpStatus, code), time, repeated, shared && 'shared'].filter(Boolean).join('  ');
}

/** Formats a message and its fields. Errors are shown with their stack. */
function formatFields({ msg, err, ...fields }: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const { stack, message } = recordOf(err);
  const text = [msg, ...pairs].join(' ');
  const details = stack ?? message;
  return withoutControls(stripVTControlCharacters(details === undefined ? text : `${text}\n${details}`));
}

/** Returns the local time: `09:05:07.123`. */
function timeOf(time: string): string {
  const date = new Date(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
