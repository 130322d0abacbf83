import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Records } from '../../packages/sandbox/src/records.ts';
import { operations } from '../support/operations.ts';
import { type Connected, connect, IMPLEMENTATIONS } from './implementations.ts';

/** Time that a delay or a digest of these tests takes. Long enough to cancel it, also on a busy machine. */
const WAIT_SECONDS = 5;

const wait = (type: 'delay' | 'digest') => ({
  type,
  metadata: { type: 'regular', amount: WAIT_SECONDS, unit: 'seconds' },
});

const recordsOf = (run: string): Records => ({
  notificationGroups: [`${run} group`],
  feeds: [`${run} feed`],
  workflows: Object.entries({
    plain: [{ type: 'in_app', content: 'Hello {{n}}, {{subscriber.firstName}}', feed: `${run} feed` }],
    critical: [{ type: 'in_app', content: 'Critical {{n}}' }],
    delayed: [wait('delay'), { type: 'in_app', content: 'Late {{n}}' }],
    digest: [wait('digest'), { type: 'in_app', content: '{{step.total_count}} events' }],
  } as const).map(([name, steps]) => ({
    identifier: `${run}-${name}`,
    name: `${run} ${name}`,
    group: `${run} group`,
    critical: name === 'critical',
    steps,
  })),
});

describe.each(IMPLEMENTATIONS)('deliveries by %s', (_, implementation) => {
  let service: Connected;
  let count = 0;

  beforeAll(async () => {
    service = await connect(implementation, recordsOf);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** Returns the id of a new person. */
  async function createPerson(): Promise<string> {
    count += 1;
    const subscriberId = service.fill(`{run}-person-${count}`);
    await service.run(operations.CreateSubscriber, { input: { subscriberId, firstName: `Person ${count}` } });
    return subscriberId;
  }

  /** Triggers an event. @returns its transaction, a new one unless it is given, once the service has accepted it */
  async function trigger(workflow: string, to: object, known?: string): Promise<string> {
    count += 1;
    const transactionId = known ?? service.fill(`{run}-event-${count}`);
    const event = { workflow: service.fill(`{run}-${workflow}`), payload: { n: String(count) }, transactionId, ...to };
    const result = await service.run(operations.TriggerEvent, { input: { event } });
    expect(result).toMatchObject({ event: { status: 'PROCESSED', transactionId } });
    return transactionId;
  }

  /** Returns who got messages of a transaction, once this number has arrived, and a later event to someone else too. */
  async function recipientsOf(transactionId: string, expected: number): Promise<unknown[]> {
    await service.awaitMessages({ [transactionId]: expected });
    const control = await trigger('critical', { subscriberIds: [await createPerson()] });
    await service.awaitMessages({ [control]: 1 });
    const messages = await service.messages(transactionId);
    return messages.map(({ subscriber }) => Object(subscriber).subscriberId).toSorted();
  }

  const setPreference = async (subscriberId: string, workflow: string, enabled: boolean) =>
    service.run(operations.UpdateWorkflowPreference, {
      input: { subscriberId, workflowId: await idOf(workflow), channel: 'IN_APP', enabled },
    });

  async function idOf(workflow: string): Promise<string> {
    const found = await service.run(operations.Workflow, { idOrIdentifier: service.fill(`{run}-${workflow}`) });
    return String(Object(found).id);
  }

  it('an event reaches the inbox of a person, with the texts of its payload and profile', async () => {
    const person = await createPerson();
    const transactionId = await trigger('plain', { subscriberIds: [person] });
    expect(await recipientsOf(transactionId, 1)).toEqual([person]);
    const inbox = await service.run(operations.Inbox, { subscriberId: person, feeds: [service.fill('{run} feed')] });
    expect(inbox).toMatchObject({
      unseen: { count: 1 },
      messages: { messages: [{ content: expect.stringMatching(/^Hello \d+, Person \d+$/), seen: false }] },
    });
    expect(await service.run(operations.Messages, { transactionIds: [transactionId] })).toMatchObject({
      messages: [{ subscriberId: person, channel: 'IN_APP', status: 'sent' }],
    });
  });

  it('an event creates the person whom it describes', async () => {
    const subscriberId = service.fill('{run}-new');
    const transactionId = await trigger('plain', { subscribers: [{ subscriberId, firstName: 'New' }] });
    expect(await recipientsOf(transactionId, 1)).toEqual([subscriberId]);
    expect(await service.run(operations.Subscriber, { subscriberId })).toMatchObject({ firstName: 'New' });
  });

  it('an event with a known transaction is answered as the first one, and sent once', async () => {
    const person = await createPerson();
    const transactionId = await trigger('plain', { subscriberIds: [person] });
    await service.awaitMessages({ [transactionId]: 1 });
    await trigger('plain', { subscriberIds: [person] }, transactionId);
    expect(await recipientsOf(transactionId, 1)).toEqual([person]);
  });

  it('events in bulk reach their people', async () => {
    const people = [await createPerson(), await createPerson()];
    const transactions = people.map((person) => `${person}-bulk`);
    const events = people.map((person, at) => ({
      workflow: service.fill('{run}-plain'),
      subscriberIds: [person],
      payload: { n: 'bulk' },
      transactionId: transactions[at],
    }));
    expect(await service.run(operations.TriggerEvents, { input: { events } })).toMatchObject({
      events: [{ status: 'PROCESSED' }, { status: 'PROCESSED' }],
    });
    for (const [at, transactionId] of transactions.entries()) {
      expect(await recipientsOf(transactionId, 1)).toEqual([people[at]]);
    }
  });

  it('an event to a topic reaches its people, but not the actor', async () => {
    const [actor, first, second] = [await createPerson(), await createPerson(), await createPerson()];
    const key = service.fill('{run}-topic');
    await service.run(operations.CreateTopic, { input: { key, name: key } });
    const input = { key, subscriberIds: [actor, first, second] };
    expect(await service.run(operations.AddSubscribersToTopic, { input })).toMatchObject({ unknownIds: [] });
    const transactionId = await trigger('plain', { topicKeys: [key], actorId: actor });
    expect(await recipientsOf(transactionId, 2)).toEqual([first, second].toSorted());
    await service.run(operations.RemoveSubscribersFromTopic, { input: { key, subscriberIds: [first] } });
    const later = await trigger('plain', { topicKeys: [key], actorId: actor });
    expect(await recipientsOf(later, 1)).toEqual([second]);
  });

  it('a channel that a person has switched off for a workflow gets nothing, until it is on again', async () => {
    const [person, other] = [await createPerson(), await createPerson()];
    expect(await setPreference(person, 'plain', false)).toMatchObject({ preference: { channels: { inApp: false } } });
    const kept = await trigger('plain', { subscriberIds: [person, other] });
    expect(await recipientsOf(kept, 1)).toEqual([other]);
    expect(await setPreference(person, 'plain', true)).toMatchObject({ preference: { channels: { inApp: true } } });
    const sent = await trigger('plain', { subscriberIds: [person, other] });
    expect(await recipientsOf(sent, 2)).toEqual([person, other].toSorted());
  });

  it('a critical workflow reaches also a person who has switched it off', async () => {
    const person = await createPerson();
    await setPreference(person, 'critical', false);
    expect(await recipientsOf(await trigger('critical', { subscriberIds: [person] }), 1)).toEqual([person]);
  });

  it('deleted messages of a transaction leave the inbox', async () => {
    const person = await createPerson();
    const transactionId = await trigger('plain', { subscriberIds: [person] });
    await service.awaitMessages({ [transactionId]: 1 });
    await service.run(operations.DeleteMessagesByTransaction, { input: { transactionId } });
    expect(await service.run(operations.Inbox, { subscriberId: person })).toMatchObject({
      unseen: { count: 0 },
      messages: { messages: [] },
    });
  });

  // The sandbox doesn't wait, as docs/sandbox.md says.
  if (!implementation.isAtOnce) {
    it('a canceled event is not sent after its delay', async () => {
      const person = await createPerson();
      const transactionId = await trigger('delayed', { subscriberIds: [person] });
      const cancel = () => service.run(operations.CancelTriggeredEvent, { input: { transactionId } });
      await vi.waitFor(async () => expect(await cancel()).toEqual({ transactionId, isCanceled: true }), {
        timeout: WAIT_SECONDS * 1_000,
        interval: 50,
      });
      const later = await trigger('delayed', { subscriberIds: [person] });
      await service.awaitMessages({ [later]: 1 });
      expect(await service.messages(transactionId)).toEqual([]);
    });

    it('events of one digest become one message', async () => {
      const person = await createPerson();
      const transactions: string[] = [];
      for (let at = 0; at < 3; at += 1) {
        transactions.push(await trigger('digest', { subscriberIds: [person] }));
      }
      const found = await vi.waitUntil(
        async () => {
          const messages = await Promise.all(transactions.map((transaction) => service.messages(transaction)));
          return messages.some(({ length }) => length > 0) && messages.flat();
        },
        { timeout: 60_000, interval: 100 },
      );
      expect(found).toMatchObject([{ content: '3 events' }]);
    });
  }
});
