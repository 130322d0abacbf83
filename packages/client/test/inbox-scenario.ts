// Uses an inbox for a day as an app with a normalized cache does: a badge, the list, and a page of settings stay open.

import { expect, onTestFinished, vi } from 'vitest';
import type { GatewayWithService } from '../../../test/support/gateway.ts';
import { documentOf } from '../../../test/support/shipped-documents.ts';

/** App with a cache. Operations have the names of the shipped documents. */
export interface CachedApp {
  /** Shows a query as a component does, which loads it if the cache lacks a part of it. @returns the reader of what it shows */
  show(name: string, variables: Record<string, unknown>): Promise<() => unknown>;
  /** Sends an operation, whatever the cache has. */
  send(name: string, variables: Record<string, unknown>): Promise<unknown>;
  /** Names of the operations that were sent. */
  sent: string[];
}

const person = { subscriberId: 'customer-1001' };
const MENTION = 'af7f0e7baf53e2a5de5c00fb';
const OTHER_MENTION = 'eb1921eb084c1050b0b5bbf8';
const WITH_BUTTONS = '8e3927aa300f0f3347ce0a87';
const WORKFLOW = 'deb68a0df673d08231e13b39';

const NEW_MESSAGE = {
  input: {
    event: {
      workflow: 'payment-failed',
      subscriberIds: ['customer-1001'],
      payload: { amount: '1.00', currency: 'EUR' },
    },
  },
};

const SCREENS = ['UnseenMessages', 'Inbox', 'InboxPreferences'];

/** Calls of the subscriber's endpoints that an operation makes, without queries. */
const READ_BADGE = 'GET /notifications/unseen';
const READ_LIST = 'GET /notifications/feed';
const READ_PREFERENCES = ['GET /preferences', 'GET /preferences/global'];

/** Relay's readers return no `__typename`. */
const withoutTypenames = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data ?? null), (key, value) => (key === '__typename' ? undefined : value));

/** Collects what clients write to the console, until the test ends. */
export function collectWarnings(): string[] {
  const warnings: string[] = [];
  const write = (...parts: unknown[]) => void warnings.push(parts.join(' '));
  const spies = [
    vi.spyOn(console, 'warn').mockImplementation(write),
    vi.spyOn(console, 'error').mockImplementation(write),
  ];
  onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()));
  return warnings;
}

/** Uses the inbox. After each change, all screens show what a gateway without a cache answers, and nothing was loaded but by the operation that changed it. @returns the warnings of the client */
export async function useInbox(gateway: GatewayWithService, app: CachedApp): Promise<string[]> {
  const warnings = collectWarnings();
  await gateway.data(documentOf('NotificationGroups').__meta__.text); // The service knows the key from here on.
  const screens: Record<string, () => unknown> = {};
  for (const name of SCREENS) {
    screens[name] = await app.show(name, person);
  }
  const read = (name: string) => Object(withoutTypenames(screens[name]?.())).inbox;
  const badge = () => read('UnseenMessages').unseen.count;
  const list = (): { id: string; seen: boolean; read: boolean; cta: object }[] => read('Inbox').messages.messages;
  const find = (id: string) => list().find((message) => message.id === id);
  const preference = () =>
    read('InboxPreferences').preferences.find((each: { workflowId: string }) => each.workflowId === WORKFLOW);

  /** Sends an operation, and compares the screens with the gateway. @returns the calls of the operation */
  async function change(
    name: string,
    variables: Record<string, unknown>,
    stale: readonly string[] = [],
  ): Promise<string[]> {
    gateway.forget();
    app.sent.length = 0;
    await app.send(name, variables);
    const calls = gateway
      .upstream()
      .map(({ method, path }) => `${method} ${path.replace(/^\/v1\/subscribers\/[\w-]+|\/v1|\?.*/g, '')}`);
    for (const screen of SCREENS.filter((each) => !stale.includes(each))) {
      const current = await gateway.data(documentOf(screen).__meta__.text, person);
      expect(withoutTypenames(screens[screen]?.()), `${screen} after ${name}`).toEqual(withoutTypenames(current));
    }
    expect(app.sent).toEqual([name]);
    return calls.toSorted();
  }

  const sendMessage = () => gateway.data(documentOf('TriggerEvent').__meta__.text, NEW_MESSAGE);

  expect([badge(), list().length]).toEqual([2, 6]);

  expect(await change('MarkMessages', { input: { ...person, messageIds: [MENTION], as: 'READ' } })).toContain(
    READ_BADGE,
  );
  expect([badge(), find(MENTION)?.read, find(OTHER_MENTION)?.read]).toEqual([1, true, false]);

  await sendMessage(); // The list has it after the next change that reads the page again.
  const all = await change('MarkAllMessages', { input: { ...person, as: 'READ' } });
  expect(all).toEqual([READ_LIST, READ_BADGE, 'POST /messages/mark-all']);
  expect([badge(), list().length, list().every((message) => message.read)]).toEqual([0, 7, true]);

  await change('CompleteMessageAction', { input: { ...person, messageId: WITH_BUTTONS, button: 'primary' } });
  expect(find(WITH_BUTTONS)?.cta).toMatchObject({
    status: 'done',
    buttons: [{ text: 'Update your card', isCompleted: true }, {}],
  });

  await change('UpdateWorkflowPreference', {
    input: { ...person, workflowId: WORKFLOW, channel: 'PUSH', enabled: false },
  });
  expect(preference().channels).toMatchObject({ inApp: true, push: false });

  await change('UpdateGlobalPreferences', { input: { ...person, channels: [{ channel: 'PUSH', enabled: true }] } });
  expect(read('InboxPreferences').globalPreferences.channels.push).toBe(true);
  await change('UpdateGlobalPreferences', { input: { ...person, channels: [{ channel: 'EMAIL', enabled: false }] } });
  expect(read('InboxPreferences').globalPreferences.channels.email).toBe(false);

  await change('DeleteInboxMessages', { input: { ...person, messageIds: [OTHER_MENTION] } });
  expect([find(OTHER_MENTION), list().length]).toEqual([undefined, 6]);

  await sendMessage();
  for (let second = 0; second < 5; second += 1) {
    expect(await change('UnseenMessages', person, ['Inbox'])).toEqual([READ_BADGE]);
    expect([badge(), list().length]).toEqual([1, 6]);
  }
  expect(await change('Inbox', person)).toEqual([READ_LIST, READ_BADGE]);
  expect([badge(), list().length]).toEqual([1, 7]);
  expect(await change('InboxPreferences', person)).toEqual(READ_PREFERENCES);

  return warnings;
}
