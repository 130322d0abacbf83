import { type Answer, bareAnswer, dataAnswer, emptyAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { Feeds } from './feeds.ts';
import { Messages } from './messages.ts';
import { NotificationGroups } from './notification-groups.ts';
import { optionalText, type Row, text } from './rows.ts';
import type { SampleTraffic } from './sample/traffic.ts';
import { Stats } from './stats.ts';
import { Subscribers } from './subscribers.ts';
import { Workflows } from './workflows.ts';

/** A request that the OpenAPI document allows; `body` is empty for operations that take none. */
export interface OperationRequest {
  environment: Environment;
  params: Row;
  query: Row;
  body: Row;
}

export type OperationHandler = (request: OperationRequest) => Answer;

/** The twelve endpoints by the operationId that the OpenAPI document gives them. */
export function createOperations(
  database: SandboxDatabase,
  clock: Clock,
  traffic: SampleTraffic,
): Map<string, OperationHandler> {
  const workflows = new Workflows(database, clock);
  const subscribers = new Subscribers(database, clock);
  const groups = new NotificationGroups(database, clock);
  const feeds = new Feeds(database, clock);
  const messages = new Messages(database);
  const stats = new Stats(database, clock);

  return new Map<string, OperationHandler>([
    [
      'updateWorkflowStatus',
      ({ environment, params, body }) =>
        dataAnswer(200, workflows.setStatus(environment, text(params, 'workflowId'), body.active === true)),
    ],
    [
      'getWorkflow',
      ({ environment, params }) => dataAnswer(200, workflows.get(environment, text(params, 'workflowIdOrIdentifier'))),
    ],
    ['createSubscriber', ({ environment, body }) => dataAnswer(201, subscribers.upsert(environment, body))],
    ['listNotificationGroups', ({ environment }) => dataAnswer(200, groups.list(environment))],
    [
      'createNotificationGroup',
      ({ environment, body }) => dataAnswer(201, groups.create(environment, text(body, 'name'))),
    ],
    ['getNotificationGroup', ({ environment, params }) => dataAnswer(200, groups.get(environment, text(params, 'id')))],
    [
      'updateNotificationGroup',
      ({ environment, params, body }) =>
        dataAnswer(200, groups.rename(environment, text(params, 'id'), text(body, 'name'))),
    ],
    [
      'deleteNotificationGroup',
      ({ environment, params }) => dataAnswer(200, groups.delete(environment, text(params, 'id'))),
    ],
    ['createFeed', ({ environment, body }) => dataAnswer(201, feeds.create(environment, text(body, 'name')))],
    ['deleteFeed', ({ environment, params }) => dataAnswer(200, feeds.delete(environment, text(params, 'feedId')))],
    [
      'deleteMessagesByTransaction',
      ({ environment, params, query }) => {
        messages.deleteByTransaction(environment, text(params, 'transactionId'), optionalText(query, 'channel'));
        return emptyAnswer();
      },
    ],
    [
      'getNotificationStats',
      ({ environment, query }) => {
        traffic.topUp();
        const days = typeof query.days === 'number' ? query.days : undefined;
        // Not in the envelope, unlike every other body.
        return bareAnswer(200, stats.countByDay(environment, days));
      },
    ],
  ]);
}
