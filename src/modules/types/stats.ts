// Adds the statistics of sent notifications, and fills in days without any.

import { listOf, loadBySentId } from '../../graphql/values.ts';
import { type ChannelName, getNotificationStats, type StatsEntryBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { assertRange } from '../toolkit/arguments.ts';
import { CHANNELS, messages } from './message.ts';
import { isLocalDate } from './scalars.ts';
import { workflows } from './workflow.ts';

/** Maximum `days`: ten years, longer than services keep statistics. */
const MAX_DAYS = 3650;

/** Maximum `days` with `fillGaps`: filling ten years in twenty aliases would block other requests. */
const MAX_FILLED_DAYS = 366;

/** Maximum workflows to load per entry. */
const MAX_WORKFLOWS = 100;

const DEFAULT_WORKFLOWS = 20;

/** Returns the number of workflows to load per entry. Throws BAD_USER_INPUT if it is out of range. */
function readFirst(first: unknown): number {
  const count = typeof first === 'number' ? first : DEFAULT_WORKFLOWS;
  assertRange('first', count, 1, MAX_WORKFLOWS);
  return count;
}

/** Returns the value to sort by. An object can't be compared; the field `key` reports it. */
const periodOf = ({ _id }: StatsEntryBody): string => (typeof _id === 'object' ? '' : (_id ?? ''));

const sortEntries = (entries: readonly StatsEntryBody[]): StatsEntryBody[] =>
  entries.toSorted((a, b) => (periodOf(a) < periodOf(b) ? -1 : Number(periodOf(a) > periodOf(b))));

/** Returns the ids of an entry's workflows. Services send nulls among them, which are reported as contract drift. */
const workflowIdsOf = ({ templates }: StatsEntryBody): readonly string[] => listOf(templates);

const isChannel = (value: unknown): value is ChannelName => CHANNELS.some((channel) => channel === value);

export const stats = defineModule('stats', ({ builder, declareCalls, requireScopes, use }) => {
  const { Channel } = use(messages);
  const { Workflow, workflow } = use(workflows);

  const StatsEntry = builder.objectRef<StatsEntryBody>('StatsEntry').implement({
    description: 'The notifications that were sent in one period, usually a day (UTC).',
    extensions: requireScopes('stats:read'),
    fields: (t) => ({
      key: t.exposeString('_id', {
        description: 'The period, usually a date such as `2026-01-31`. Unique within the list.',
      }),
      date: t.field({
        type: 'LocalDate',
        nullable: true,
        description: 'The day (UTC). Null if the period is not a day.',
        resolve: ({ _id }) => (isLocalDate(_id) ? _id : null),
      }),
      count: t.exposeInt('count', {
        description:
          'The number of notifications triggered in the period. The service counts one for each of its channels.',
      }),
      channels: t.field({
        type: [Channel],
        description:
          'The channels over which the notifications were sent. Channels that are not in `Channel` are omitted.',
        resolve: ({ channels }) => listOf(channels).filter(isChannel), // Unknown ones are reported as contract drift.
      }),
      workflowIds: t.idList({
        description: 'The ids of the triggered workflows, including those deleted since.',
        resolve: workflowIdsOf,
      }),
      workflows: t.field({
        type: [Workflow],
        nullable: { list: true, items: true },
        extensions: declareCalls('1 per distinct id in the operation, 8 at a time', {
          loader: workflow,
          max: ({ first }) => readFirst(first),
          reason: 'One per distinct workflow of the statistics.',
        }),
        description:
          'The triggered workflows, in the order of `workflowIds`, with null for each that no longer exists. A workflow that occurs in several entries is loaded once.\n\nREST: `GET /v1/workflows/{workflowIdOrIdentifier}` per distinct id.',
        args: {
          first: t.arg.int({
            defaultValue: DEFAULT_WORKFLOWS,
            description: `The maximum number of workflows to return, 1 to ${MAX_WORKFLOWS}.`,
          }),
        },
        resolve: (entry, args, ctx) =>
          workflowIdsOf(entry)
            .slice(0, readFirst(args.first))
            .map((sent) => loadBySentId(sent, (id) => ctx.loaders.load(workflow, id))),
      }),
    }),
  });

  builder.queryFields((t) => ({
    notificationStats: t.field({
      type: [StatsEntry],
      nullable: { list: true, items: true },
      extensions: declareCalls('1'),
      description:
        'Returns the number of notifications sent per day, oldest first. Days without notifications are missing unless `fillGaps` is true. If the service sends an invalid entry, that entry is null and has an entry in `errors`.\n\nREST: `GET /v1/notifications/graph/stats`.',
      args: {
        days: t.arg.int({
          description: `The number of most recent days (UTC) to return, including today, 1 to ${MAX_DAYS}. Default: decided by the service, whose first day may then be a part of one.`,
        }),
        fillGaps: t.arg.boolean({
          defaultValue: false,
          description: `Whether to add an entry with count 0 for each day without notifications. If true, \`days\` can be at most ${MAX_FILLED_DAYS}.`,
        }),
      },
      resolve: async (_root, { days, ...args }, ctx) => {
        const [name, max] = args.fillGaps
          ? (['days with fillGaps', MAX_FILLED_DAYS] as const)
          : (['days', MAX_DAYS] as const);
        assertRange(name, days ?? 1, 1, max);
        const entries = await ctx.upstream.read(getNotificationStats, { query: { days } });
        const sorted = entries && sortEntries(days == null ? entries : lastDays(entries, days, ctx.now()));
        return sorted && args.fillGaps ? fillGaps(sorted, days ?? undefined, ctx.now()) : sorted;
      },
    }),
  }));

  return { StatsEntry };
});

const DAY_MS = 86_400_000;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns the entries of the last UTC days including today: services send a part of the day before, too. Keeps entries whose key is not a date. */
function lastDays(entries: readonly StatsEntryBody[], days: number, now: Date): StatsEntryBody[] {
  const [first = '', last = ''] = [days - 1, 0].map((age) => dayOf(now.getTime() - age * DAY_MS));
  return entries.filter(({ _id }) => !isLocalDate(_id) || (first <= _id && _id <= last));
}

/** Maximum distance from today at which days are added, so that a date far off doesn't cause millions of entries. */
const MAX_DISTANCE_MS = 3_650 * DAY_MS;

/**
 * Adds an entry with count 0 for every missing day, oldest first.
 *
 * The period is the last `days` UTC days including today, to which the entries belong. If `days` is undefined, it is from the oldest entry to
 * today, and includes every entry up to ten years from today. Entries further away are kept, without adding the days in between. Entries whose
 * key is not a date are kept at the end.
 */
export function fillGaps(entries: readonly StatsEntryBody[], days: number | undefined, now: Date): StatsEntryBody[] {
  const byDay = new Map(entries.filter(({ _id }) => isLocalDate(_id)).map((entry) => [entry._id, entry]));
  const others = entries.filter(({ _id }) => !byDay.has(_id));
  if (byDay.size === 0 && days === undefined) {
    return others;
  }
  const today = Date.parse(dayOf(now.getTime()));
  const near = [...byDay.keys()]
    .map((day) => Date.parse(day))
    .filter((time) => Math.abs(time - today) <= MAX_DISTANCE_MS);
  const first = Math.min(today - ((days ?? 1) - 1) * DAY_MS, ...near);
  const last = Math.max(today, ...near);
  const filled = Array.from({ length: (last - first) / DAY_MS + 1 }, (_, i) => {
    const day = dayOf(first + i * DAY_MS);
    return byDay.get(day) ?? { _id: day, count: 0, templates: [], channels: [] };
  });
  const far = (isFar: (time: number) => boolean) =>
    [...byDay].flatMap(([day, entry]) => (isFar(Date.parse(day)) ? entry : []));
  return [...far((time) => time < first), ...filled, ...far((time) => time > last), ...others];
}
