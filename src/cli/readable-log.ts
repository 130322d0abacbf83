import { stripVTControlCharacters, styleText } from 'node:util';
import { z } from 'zod';

/** Levels that are printed in another color and capital letters. */
const COLORS: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

const call = z.object({
  method: z.string(),
  route: z.string(),
  httpStatus: z.number().optional(),
  code: z.string().optional(),
  ms: z.number().optional(),
  attempt: z.number().optional(),
  shared: z.boolean().optional(),
  ageMs: z.number().optional(),
});

/** Line of the log as `createJsonLogger` writes it. */
const line = z.looseObject({
  level: z.string(),
  time: z.iso.datetime(),
  pid: z.number().optional(),
  msg: z.string().default(''),
});

const operation = z.object({
  msg: z.literal('operation'),
  operation: z.string().optional(),
  type: z.string().optional(),
  code: z.string().optional(),
  reason: z.string().optional(),
  httpStatus: z.number(),
  ms: z.number(),
  upstreamCalls: z.number(),
  cached: z.number().optional(),
  staleSeconds: z.number().optional(),
  clientKind: z.string().optional(),
  tenant: z.string().optional(),
  trace_id: z.string().optional(),
  calls: z.array(call).optional(),
});

/** Options of `formatLogLine`. */
export interface LogFormat {
  /** Whether lines name their process, because several write to the same terminal. */
  hasPid: boolean;
  /** Stream that decides about colors. */
  stream: NodeJS.WritableStream;
}

type Style = Parameters<typeof styleText>[0];

/** Formats a JSON line of the log for people: one line per operation, with its REST calls beneath. */
export function formatLogLine(json: string, { hasPid, stream }: LogFormat): string {
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
  const { type = 'request', code, reason, httpStatus, ms, upstreamCalls, clientKind, tenant, calls } = data;
  const outcome = [httpStatus, code, reason && `(${reason})`].filter(Boolean).join(' ');
  const name = [type, data.operation].filter(Boolean).join(' ');
  const cost = [`${ms} ms`, `${upstreamCalls} ${upstreamCalls === 1 ? 'call' : 'calls'}`, ...describeCached(data)].join(
    ', ',
  );
  const caller = [clientKind, tenant].filter(Boolean).join(' ');
  const main = [head, name, style(code === undefined ? 'green' : 'red', outcome), cost, caller && style('dim', caller)];
  const details =
    calls === undefined ? [] : [data.trace_id && `trace ${data.trace_id}`, ...calls.map(formatCall)].filter(Boolean);
  const beneath = details.map((each) => `${style('dim', `    ${each}`)}\n`);
  return `${main.filter(Boolean).join('  ')}\n${beneath.join('')}`;
}

/** Returns the number of reads from the cache, and the age of one that was used because the service failed. */
const describeCached = ({ cached, staleSeconds }: z.infer<typeof operation>): string[] => [
  ...(cached === undefined ? [] : [`${cached} cached`]),
  ...(staleSeconds === undefined ? [] : [`up to ${staleSeconds} s old`]),
];

function formatCall({ method, route, httpStatus, code, ms, attempt = 1, shared, ageMs }: z.infer<typeof call>): string {
  const parts = [
    `${method} ${route}`,
    [httpStatus, code].filter(Boolean).join(' '),
    ageMs === undefined ? (ms === undefined ? 'not finished' : `${ms} ms`) : `cached ${ageMs} ms ago`,
    attempt > 1 ? `attempt ${attempt}` : '',
    shared ? 'shared' : '',
  ];
  return parts.filter(Boolean).join('  ');
}

/** Formats a message and its fields. Errors are shown with their stack. */
function formatFields({ msg, err, ...fields }: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const { stack, message } = z
    .looseObject({ stack: z.string().optional(), message: z.string().optional() })
    .catch({})
    .parse(err);
  const text = [msg, ...pairs].join(' ');
  const details = stack ?? message;
  return stripVTControlCharacters(details === undefined ? text : `${text}\n${details}`);
}

/** Returns the local time: `09:05:07.123`. */
function timeOf(time: string): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
