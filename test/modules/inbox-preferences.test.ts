// Changes preferences behind services of two kinds: before November 2024 with a switch for all channels, and later without.

import { describe, expect, it } from 'vitest';
import inbox from '../../src/modules/shipped/inbox.ts';
import { startGateway } from '../support/gateway.ts';
import type { Script } from '../support/service.ts';

const WORKFLOW = '65f0000000000000000000b1';

/** Starts a gateway in front of a service that keeps one preference for a workflow, and one for all. */
async function start({ hasSwitch = false, fixed = [] as string[] } = {}) {
  const create = () => ({
    enabled: true,
    channels: { in_app: true, email: true, sms: false } as Record<string, boolean>,
  });
  const stored = { workflow: create(), global: create() };
  const template = {
    _id: WORKFLOW,
    name: 'Order shipped',
    critical: false,
    tags: ['orders'],
    triggers: [{ identifier: 'order-shipped' }],
  };
  const script: Script = ({ method, path, body }) => {
    const of =
      path.endsWith(`/preferences/${WORKFLOW}`) || (path.endsWith('/preferences') && method === 'GET')
        ? 'workflow'
        : 'global';
    const preference = stored[of];
    if (method === 'PATCH') {
      const { enabled, channel, preferences = [] } = JSON.parse(body);
      preference.enabled = hasSwitch ? (enabled ?? preference.enabled) : true;
      for (const choice of channel === undefined ? preferences : [channel]) {
        preference.channels[choice.type] = fixed.includes(choice.type)
          ? preference.channels[choice.type]
          : choice.enabled;
      }
    }
    const shown = of === 'workflow' ? { template, preference } : { preference };
    return { body: { data: structuredClone(method === 'GET' ? [shown] : shown) } };
  };
  const gateway = await startGateway({ service: script, modules: [inbox] });
  const CHANNELS = 'id enabled channels { inApp email sms }';
  const change = async (field: string, input: string, shown: string) => {
    gateway.service.forget();
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Success`;
    const { body } = await gateway.send(
      `mutation { ${field}(input: { subscriberId: "user-1", ${input} }) { ... on ${type} { unapplied ${shown} { ${CHANNELS} } } ... on MutationError { code message } } }`,
    );
    const sent = gateway.service.requests
      .filter(({ method }) => method === 'PATCH')
      .map((each) => JSON.parse(each.body));
    return { result: body.data?.[field], sent, calls: gateway.service.calls() };
  };
  return {
    stored,
    gateway,
    one: (input: string) => change('updateWorkflowPreference', input, 'preference'),
    all: (input: string) => change('updateGlobalPreferences', input, 'preferences'),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

const OFF = { inApp: false, email: false, sms: false };
const ID = `preference:${WORKFLOW}:user-1`;

describe('the messages of a workflow', () => {
  it('are switched off channel by channel where the service has no switch', async () => {
    await using service = await start();
    const { result, sent } = await service.one(`workflowId: "${WORKFLOW}", enabled: false`);
    expect(result).toEqual({ unapplied: [], preference: { id: ID, enabled: true, channels: OFF } });
    expect(sent).toEqual([
      { enabled: false },
      { channel: { type: 'in_app', enabled: false } },
      { channel: { type: 'email', enabled: false } },
    ]);
    expect((await service.one(`workflowId: "${WORKFLOW}", enabled: true`)).result).toMatchObject({
      unapplied: [],
      preference: { channels: { inApp: true, email: true, sms: true } },
    });
  });

  it('are switched off by the switch where there is one, and the channels stay as they are', async () => {
    await using service = await start({ hasSwitch: true });
    const channels = { inApp: true, email: true, sms: false };
    for (const enabled of [false, true]) {
      const { result, sent } = await service.one(`workflowId: "${WORKFLOW}", enabled: ${enabled}`);
      expect(result).toEqual({ unapplied: [], preference: { id: ID, enabled, channels } });
      expect(sent).toEqual([{ enabled }]);
    }
  });

  it('are found by the identifier of the workflow too, and by its id without a call more', async () => {
    await using service = await start();
    const byIdentifier = await service.one('workflowId: "order-shipped", channel: EMAIL, enabled: false');
    expect(byIdentifier.calls).toEqual([
      'GET /v1/subscribers/user-1/preferences',
      `PATCH /v1/subscribers/user-1/preferences/${WORKFLOW}`,
    ]);
    expect(byIdentifier.result).toMatchObject({ unapplied: [], preference: { channels: { email: false } } });
    const byId = await service.one(`workflowId: "${WORKFLOW}", channel: EMAIL, enabled: true`);
    expect(byId.calls).toEqual([`PATCH /v1/subscribers/user-1/preferences/${WORKFLOW}`]);
  });

  it('that the service keeps as they are are no plain success', async () => {
    await using service = await start({ fixed: ['email'] });
    const one = await service.one(`workflowId: "${WORKFLOW}", channel: EMAIL, enabled: false`);
    expect(one.result).toMatchObject({ unapplied: ['input.enabled'], preference: { channels: { email: true } } });
    const all = await service.one(`workflowId: "${WORKFLOW}", enabled: false`);
    expect(all.result).toMatchObject({ unapplied: ['input.enabled'], preference: { channels: { email: true } } });
    expect(service.gateway.log.find(({ results }) => results)).toMatchObject({
      results: ['updateWorkflowPreference: UNAPPLIED'],
    });
  });

  it('have the identifier and the tags of the workflow', async () => {
    await using service = await start();
    const query =
      '{ inbox(subscriberId: "user-1") { id preferences { id workflowId identifier tags } globalPreferences { id } } }';
    expect((await service.gateway.send(query)).body.data).toEqual({
      inbox: {
        id: 'inbox:user-1',
        preferences: [{ id: ID, workflowId: WORKFLOW, identifier: 'order-shipped', tags: ['orders'] }],
        globalPreferences: { id: 'preferences:user-1' },
      },
    });
  });
});

describe('all messages', () => {
  it('are switched off with one call for the channels that are on, where the service has no switch', async () => {
    await using service = await start();
    const { result, sent } = await service.all('enabled: false');
    expect(result).toEqual({ unapplied: [], preferences: { id: 'preferences:user-1', enabled: true, channels: OFF } });
    expect(sent).toEqual([
      { enabled: false },
      {
        preferences: [
          { type: 'in_app', enabled: false },
          { type: 'email', enabled: false },
        ],
      },
    ]);
  });

  it('are switched on without a change of channels that are on', async () => {
    await using service = await start();
    const { sent } = await service.all('enabled: true');
    expect(sent).toEqual([{ enabled: true }, { preferences: [{ type: 'sms', enabled: true }] }]);
    await using older = await start({ hasSwitch: true });
    await older.all('enabled: false');
    expect((await older.all('enabled: true')).sent).toEqual([{ enabled: true }]);
  });

  it('are changed by channel with one call, which says what the service did not change', async () => {
    await using service = await start({ fixed: ['sms'] });
    const input = 'enabled: false, channels: [{ channel: EMAIL, enabled: false }, { channel: SMS, enabled: true }]';
    const { result, sent } = await service.all(input);
    expect(sent).toHaveLength(1);
    expect(result).toMatchObject({ unapplied: ['input.enabled', 'input.channels.1.enabled'] });
  });
});
