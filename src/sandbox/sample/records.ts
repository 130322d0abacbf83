import type { Clock } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import { type SampleEnvironment, sampleId } from './definition.ts';
import { DEVELOPMENT_SAMPLE } from './development.ts';
import { PRODUCTION_SAMPLE } from './production.ts';
import { createTrafficWriter } from './traffic-writer.ts';
import { createWorkflowDocument } from './workflow-document.ts';

export const SAMPLE_ENVIRONMENTS: readonly SampleEnvironment[] = [DEVELOPMENT_SAMPLE, PRODUCTION_SAMPLE];

/** Writes the sample records of both environments; the traffic is written by SampleTraffic. */
export function writeSampleRecords(database: SandboxDatabase, clock: Clock): void {
  const insertGroup = database.prepare('INSERT INTO notification_groups (id, environment_id, name) VALUES (?, ?, ?)');
  const insertFeed = database.prepare('INSERT INTO feeds (id, environment_id, name) VALUES (?, ?, ?)');
  const insertWorkflow = database.prepare(`
    INSERT INTO workflows (id, environment_id, identifier, active, draft, updated_at, document)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `);
  const insertSubscriber = database.prepare(`
    INSERT INTO subscribers (
      id, environment_id, subscriber_id, first_name, last_name, email, phone, avatar, locale, data, channels, created_at, updated_at
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  `);
  const writeNotification = createTrafficWriter(database);

  for (const { environment, groups, feeds, workflows, subscribers, transactions } of SAMPLE_ENVIRONMENTS) {
    for (const name of groups) {
      insertGroup.run(sampleId(environment, 'group', name), environment.id, name);
    }
    for (const name of feeds) {
      insertFeed.run(sampleId(environment, 'feed', name), environment.id, name);
    }
    for (const workflow of workflows) {
      const document = createWorkflowDocument(environment, workflow);
      const [active, draft] = [Number(workflow.active), Number(!workflow.active)];
      insertWorkflow.run(
        document._id,
        environment.id,
        workflow.identifier,
        active,
        draft,
        workflow.updatedAt,
        JSON.stringify(document),
      );
    }
    for (const { subscriberId, ...fields } of subscribers) {
      insertSubscriber.run(
        sampleId(environment, 'subscriber', subscriberId),
        environment.id,
        subscriberId,
        fields.firstName,
        fields.lastName,
        fields.email,
        fields.phone ?? null,
        fields.avatar ?? null,
        fields.locale,
        fields.data === undefined ? null : JSON.stringify(fields.data),
        fields.channels === undefined ? null : JSON.stringify(fields.channels),
        fields.createdAt,
        fields.createdAt,
      );
    }
    for (const { transactionId, workflow, subscriberId, channels } of transactions) {
      writeNotification({
        id: sampleId(environment, 'notification', transactionId),
        environmentId: environment.id,
        workflowId: sampleId(environment, 'workflow', workflow),
        subscriberId: sampleId(environment, 'subscriber', subscriberId),
        transactionId,
        channels,
        createdAt: clock().toISOString(),
      });
    }
  }
}
