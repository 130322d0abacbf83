import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Statistics of one day as the service returns them. */
export type StatsEntryBody = components['schemas']['StatisticsEntry'];

/** Returns statistics per day, in no particular order and without days that had no traffic. If `days` is absent, the service chooses the period. */
export const getNotificationStats = (client: UpstreamClient, days?: number) =>
  client.read<StatsEntryBody[]>({ route: '/v1/notifications/graph/stats', query: { days }, expect: 'list' });
