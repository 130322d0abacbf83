import { type AugmentedRequest, type DataSourceConfig, RESTDataSource } from '@apollo/datasource-rest';
import type { Envelope, NewSubscriber, NotificationGroup, StatisticsEntry, Subscriber, Workflow } from '../upstream.ts';

/**
 * Client of the service. By default, the data source deduplicates only concurrent requests, so one GraphQL request can list the groups
 * more than once.
 */
export class NotificationsAPI extends RESTDataSource {
  override baseURL = process.env.UPSTREAM ?? '';
  readonly #authorization: string;

  constructor(authorization: string, options: DataSourceConfig) {
    super(options);
    this.#authorization = authorization;
  }

  override willSendRequest(_path: string, request: AugmentedRequest): void {
    request.headers.authorization = this.#authorization;
  }

  async getWorkflow(id: string): Promise<Workflow> {
    return (await this.get<Envelope<Workflow>>(`v1/workflows/${encodeURIComponent(id)}`)).data;
  }

  async listNotificationGroups(): Promise<NotificationGroup[]> {
    return (await this.get<Envelope<NotificationGroup[]>>('v1/notification-groups')).data;
  }

  async getNotificationGroup(id: string): Promise<NotificationGroup | undefined> {
    return (await this.listNotificationGroups()).find(({ _id }) => _id === id);
  }

  async getStatistics(days: number): Promise<StatisticsEntry[]> {
    return this.get<StatisticsEntry[]>('v1/notifications/graph/stats', { params: { days: String(days) } });
  }

  async createNotificationGroup(name: string): Promise<NotificationGroup> {
    return (await this.post<Envelope<NotificationGroup>>('v1/notification-groups', { body: { name } })).data;
  }

  async createSubscriber(subscriber: NewSubscriber): Promise<Subscriber> {
    return (await this.post<Envelope<Subscriber>>('v1/subscribers', { body: { ...subscriber } })).data;
  }
}
