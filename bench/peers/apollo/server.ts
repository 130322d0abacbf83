// Serves the workloads with Apollo Server and its REST data source.

import { type AugmentedRequest, type DataSourceConfig, RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import type {
  Envelope,
  NewSubscriber,
  NotificationGroup,
  Service,
  StatisticsEntry,
  Workflow,
} from '../../upstream/records.ts';
import { type Context, resolvers, typeDefs } from '../schema.ts';

/**
 * Client of the service. By default, the data source deduplicates only concurrent requests, so one GraphQL request can list the groups
 * more than once.
 */
class NotificationsAPI extends RESTDataSource implements Service {
  override baseURL = process.env.UPSTREAM ?? '';
  readonly #authorization: string;

  constructor(authorization: string, options: DataSourceConfig) {
    super(options);
    this.#authorization = authorization;
  }

  override willSendRequest(_path: string, request: AugmentedRequest): void {
    request.headers.authorization = this.#authorization;
  }

  async getWorkflow(id: string) {
    return (await this.get<Envelope<Workflow>>(`v1/workflows/${encodeURIComponent(id)}`)).data;
  }

  async listNotificationGroups() {
    return (await this.get<Envelope<NotificationGroup[]>>('v1/notification-groups')).data;
  }

  async getNotificationGroup(id: string) {
    return (await this.listNotificationGroups()).find(({ _id }) => _id === id);
  }

  async getStatistics(days: number) {
    return this.get<StatisticsEntry[]>('v1/notifications/graph/stats', { params: { days: String(days) } });
  }

  async createNotificationGroup(name: string) {
    return (await this.post<Envelope<NotificationGroup>>('v1/notification-groups', { body: { name } })).data;
  }

  async createSubscriber(subscriber: NewSubscriber) {
    return (await this.post<Envelope<{ subscriberId: string }>>('v1/subscribers', { body: { ...subscriber } })).data;
  }
}

const server = new ApolloServer<Context>({ typeDefs, resolvers });

await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req }) => ({
    service: new NotificationsAPI(req.headers.authorization ?? '', { cache: server.cache }),
  }),
});
