import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type StatsEntryBody = components['schemas']['StatisticsEntry'];

/** In no particular order; days without traffic are missing. Without `days` the service takes its own window. */
export const getNotificationStats = (client: UpstreamClient, days?: number) =>
  client.read<StatsEntryBody[]>({ route: '/v1/notifications/graph/stats', query: { days }, expect: 'list' });
