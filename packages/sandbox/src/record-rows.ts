// Completes records: adds ids and defaults, and replaces names of other records by their ids.

import type { Environment } from './environments.ts';
import { sampleId } from './ids.ts';
import type {
  Channel,
  DayRecord,
  NamedRecord,
  Records,
  SubscriberRecord,
  TransactionRecord,
  WorkflowRecord,
} from './records.ts';
import { createWorkflowDocument } from './workflow-document.ts';

/** Records of one environment as the resources write them: complete, with ids. */
export interface RecordRows {
  environment: Environment;
  notificationGroups: readonly NamedRow[];
  feeds: readonly NamedRow[];
  workflows: readonly WorkflowRow[];
  subscribers: readonly SubscriberRow[];
  notifications: readonly NotificationRow[];
}

interface NamedRow {
  id: string;
  name: string;
}

interface WorkflowRow {
  id: string;
  identifier: string;
  active: boolean;
  updatedAt: string;
  /** JSON object as the service returns it, without `active`, `draft` and `updatedAt`. */
  document: object;
}

type SubscriberRow = SubscriberRecord & { id: string; createdAt: string };

/** Notification. It has a message on each of its channels. */
export interface NotificationRow {
  id: string;
  /** Empty for messages that tests add, which no statistics count. */
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}

export type ReferredKind = 'group' | 'feed' | 'workflow';

/** Returns the id of an earlier record by its id or name; undefined if there is none. */
export type FindRecord = (kind: ReferredKind, idOrName: string) => string | undefined;

/** Messages of a transaction. Those of the sample have a workflow and a subscriber, so that the statistics count them. */
export type MessageRecord = TransactionRecord & { workflow?: string; subscriberId?: string };

type AllRecords = Omit<Records, 'messages'> & { messages?: readonly MessageRecord[] };

/** Id of a record that was deleted: statistics of the real service contain them. */
const ANY_ID = /^[0-9a-f]{24}$/;

/**
 * Completes records.
 *
 * @param find finds records that were written earlier
 * @throws {TypeError} if a record refers to one that doesn't exist, or is invalid
 */
export function toRecordRows(
  { notificationGroups = [], feeds = [], workflows = [], subscribers = [], messages = [], statistics = [] }: AllRecords,
  environment: Environment,
  now: Date,
  find: FindRecord = () => undefined,
): RecordRows {
  const groupRows = notificationGroups.map(toNamedRow('group'));
  const feedRows = feeds.map(toNamedRow('feed'));
  const createdAt = now.toISOString();

  function toNamedRow(kind: 'group' | 'feed'): (record: NamedRecord) => NamedRow {
    return (record) => {
      const { id, name } = typeof record === 'string' ? { name: record } : record;
      return { id: id ?? sampleId(environment, kind, name), name };
    };
  }

  function idOf(kind: ReferredKind, rows: readonly NamedRow[], idOrName: string): string | undefined {
    return rows.find(({ id, name }) => id === idOrName || name === idOrName)?.id ?? find(kind, idOrName);
  }

  function toWorkflowRow(workflow: WorkflowRecord): WorkflowRow {
    const { identifier, group, active = true, updatedAt = createdAt } = workflow;
    const id = workflow.id ?? sampleId(environment, 'workflow', identifier);
    const user = `The workflow "${identifier}"`;
    const document = createWorkflowDocument(environment, workflow, {
      id,
      groupId:
        group === undefined
          ? sampleId(environment, 'group', '')
          : (idOf('group', groupRows, group) ?? refuse(user, 'notification group', group)),
      feedIdOf: (feed) => idOf('feed', feedRows, feed) ?? refuse(user, 'feed', feed),
      now: createdAt,
    });
    return { id, identifier, active, updatedAt, document };
  }

  const workflowRows = workflows.map(toWorkflowRow);
  const workflowNames = workflowRows.map(({ id, identifier }) => ({ id, name: identifier }));

  function toNotifications({ date, workflows: ids = [], count, channels = ['email'] }: DayRecord): NotificationRow[] {
    if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date))) {
      throw new TypeError(`The statistics have the day "${date}". Use YYYY-MM-DD.`);
    }
    const workflowIds = ids.map(
      (id) =>
        idOf('workflow', workflowNames, id) ??
        (ANY_ID.test(id) ? id : refuse(`The statistics record of ${date}`, 'workflow', id)),
    );
    const total = count ?? Math.max(1, ids.length);
    if (total < Math.max(1, ids.length)) {
      throw new TypeError(`The statistics of ${date} need a count of at least ${Math.max(1, ids.length)}.`);
    }
    return Array.from({ length: total }, (_, i) => ({
      // Day and number, which no endpoint returns.
      id: sampleId(environment, 'notification', date, ...ids, i),
      workflowId: workflowIds[i % workflowIds.length] ?? sampleId(environment, 'workflow', ''),
      subscriberId: sampleId(environment, 'subscriber', ''),
      transactionId: `${date}-${i}`,
      channels,
      createdAt: `${date}T00:00:00.000Z`,
    }));
  }

  return {
    environment,
    notificationGroups: groupRows,
    feeds: feedRows,
    workflows: workflowRows,
    subscribers: subscribers.map((subscriber) => ({
      createdAt,
      ...subscriber,
      id: subscriber.id ?? sampleId(environment, 'subscriber', subscriber.subscriberId),
    })),
    notifications: [
      ...messages.map(({ transactionId, channels = ['email'], workflow, subscriberId }) => ({
        id: sampleId(environment, 'notification', transactionId, ...channels),
        workflowId: workflow === undefined ? '' : sampleId(environment, 'workflow', workflow),
        subscriberId: subscriberId === undefined ? '' : sampleId(environment, 'subscriber', subscriberId),
        transactionId,
        channels,
        createdAt,
      })),
      ...statistics.flatMap(toNotifications),
    ],
  };
}

function refuse(user: string, kind: string, idOrName: string): never {
  throw new TypeError(`${user} refers to the ${kind} "${idOrName}", which doesn't exist. Add it to the records.`);
}
