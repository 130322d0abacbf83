import type { ChannelName } from '../../upstream/resources/messages.ts';
import type { StatsEntryBody } from '../../upstream/resources/stats.ts';
import { builder } from '../builder.ts';
import { assertRange, requireValue } from '../errors.ts';
import { fillGaps } from '../fill-gaps.ts';
import { requireScopes } from '../require-scopes.ts';
import { isLocalDate } from '../scalars.ts';
import { Channel } from './message.ts';
import { Workflow } from './workflow.ts';

/** Ten years: no service keeps statistics for longer. */
const MAX_DAYS = 3650;

/** Days that the gateway itself makes up at most: twenty aliases of ten years would hold up everybody else. */
const MAX_FILLED_DAYS = 366;

/** As many as one operation may load. */
const MAX_WORKFLOWS = 100;

const CHANNELS: readonly unknown[] = ['in_app', 'email', 'sms', 'chat', 'push'] satisfies ChannelName[];

const isChannel = (value: unknown): value is ChannelName => CHANNELS.includes(value);

const StatsEntry = builder.objectRef<StatsEntryBody>('StatsEntry').implement({
  description: 'What was sent in one span of time, a day on the services known so far.',
  extensions: requireScopes('stats:read'),
  fields: (t) => ({
    key: t.exposeString('_id', {
      description: 'What the entry is about. On the wire: _id. Not named id: it is no identity.',
    }),
    date: t.field({
      type: 'LocalDate',
      nullable: true,
      description: 'The key, when it is a day (UTC); otherwise null.',
      resolve: ({ _id }) => (isLocalDate(_id) ? _id : null),
    }),
    count: t.exposeInt('count', { description: 'How many notifications were triggered.' }),
    channels: t.field({
      type: [Channel],
      description: 'The channels they were sent over. A channel that this schema does not know is left out.',
      resolve: ({ _id, channels }, _args, ctx) => {
        const known = (channels ?? []).filter(isChannel);
        const unknown = (channels ?? []).length - known.length;
        if (unknown > 0) {
          ctx.logger.warn(
            { requestId: ctx.requestId, entry: isLocalDate(_id) ? _id : undefined, unknown },
            'left out channels that the schema does not know',
          );
        }
        return known;
      },
    }),
    workflowIds: t.exposeIDList('templates', {
      description: 'The ids of the workflows that were triggered. On the wire: templates.',
    }),
    workflows: t.field({
      type: [Workflow],
      nullable: { list: true, items: true },
      extensions: { calls: '1 per distinct id in the operation, 8 at a time' },
      description:
        'workflowIds resolved, each distinct id once in the whole operation; null stands for one that no longer exists. GET /v1/workflows/{workflowIdOrIdentifier}',
      args: {
        first: t.arg.int({
          required: true,
          defaultValue: 20,
          description: `How many at most, from the first on; 1 to ${MAX_WORKFLOWS}.`,
        }),
      },
      resolve: ({ templates }, { first }, ctx) => {
        assertRange('first', first, 1, MAX_WORKFLOWS);
        return (templates ?? []).slice(0, first).map((id) => ctx.loaders.workflow.load(requireValue(id)));
      },
    }),
  }),
});

builder.queryFields((t) => ({
  notificationStats: t.field({
    type: [StatsEntry],
    nullable: true,
    description: 'What was sent, oldest day first. GET /v1/notifications/graph/stats',
    args: {
      days: t.arg.int({ description: `How many days back, 1 to ${MAX_DAYS}. Default: the service's own window.` }),
      fillGaps: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: `Whether days without traffic are entries with count 0; the service leaves them out. For ${MAX_FILLED_DAYS} days at most.`,
      }),
    },
    resolve: async (_root, { days, fillGaps: wantsAllDays }, ctx) => {
      if (days != null) {
        assertRange(wantsAllDays ? 'days with fillGaps' : 'days', days, 1, wantsAllDays ? MAX_FILLED_DAYS : MAX_DAYS);
      }
      const entries = await ctx.upstream.getNotificationStats(days ?? undefined);
      const sorted = entries?.toSorted((a, b) => (a._id < b._id ? -1 : Number(a._id > b._id))) ?? null;
      return sorted && wantsAllDays ? fillGaps(sorted, days ?? undefined, ctx.now()) : sorted;
    },
  }),
}));
