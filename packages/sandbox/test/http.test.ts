import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createConnection } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, describe, expect, it, vi } from 'vitest';
import { openSandbox, openSandboxOfFile } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { SANDBOX_KEYS, startSandbox } from '../src/sandbox.ts';

const authorization = `ApiKey ${SANDBOX_KEYS.development}`;

const send = openSandboxOfFile();
afterEach(() => {
  vi.restoreAllMocks();
});

describe('API keys', () => {
  it('are required on every endpoint', async () => {
    const { status, body, headers } = await send('GET /v1/notification-groups', { as: null });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('ApiKey');
    expect(body).toMatchObject({
      error: 'Unauthorized',
      message: expect.stringContaining('Authorization: ApiKey <key>'),
    });
  });

  it('are valid only in the form "ApiKey <key>"', async () => {
    const key = SANDBOX_KEYS.development;
    for (const value of [key, `Bearer ${key}`, `ApiKey  ${key}`, `apikey ${key}`, `ApiKey ${key}x`, 'ApiKey']) {
      const { status } = await send('GET /v1/notification-groups', { as: null, headers: { authorization: value } });
      expect(status, value).toBe(401);
    }
  });

  it('separate the records of the two environments', async () => {
    const as = 'production';
    const development = await send('GET /v1/workflows/comment-mention');
    const group = await send('POST /v1/notification-groups', { body: { name: 'Private' } });
    const feed = await send('POST /v1/feeds', { body: { name: 'Private' } });
    const subscriber = await send('POST /v1/subscribers', { body: { subscriberId: 'shared', firstName: 'Dev' } });

    expect((await send('GET /v1/workflows/comment-mention', { as })).status).toBe(404);
    expect((await send(`GET /v1/workflows/${development.data._id}`, { as })).status).toBe(404);
    const groupAddress = `/v1/notification-groups/${group.data._id}`;
    expect((await send(`GET ${groupAddress}`, { as })).status).toBe(404);
    expect((await send(`PATCH ${groupAddress}`, { as, body: { name: 'Stolen' } })).status).toBe(404);
    expect((await send(`DELETE ${groupAddress}`, { as })).status).toBe(404);
    expect((await send(`DELETE /v1/feeds/${feed.data._id}`, { as })).status).toBe(400);
    expect((await send('DELETE /v1/messages/transaction/sample-transaction-0001', { as })).status).toBe(404);

    const groups = await send('GET /v1/notification-groups', { as });
    expect(groups.list.map(({ name }) => name)).toEqual(['Live customer mail', 'Live operations']);
    const ownFeed = await send('POST /v1/feeds', { as, body: { name: 'Private' } });
    expect(ownFeed.status).toBe(201);
    const feeds = await send(`DELETE /v1/feeds/${ownFeed.data._id}`, { as });
    expect(feeds.list.map(({ name }) => name)).toEqual(['Live activity', 'Live announcements']);
    const ownSubscriber = await send('POST /v1/subscribers', { as, body: { subscriberId: 'shared' } });
    expect(ownSubscriber.data).not.toHaveProperty('firstName');
    expect(ownSubscriber.data._environmentId).not.toBe(subscriber.data._environmentId);

    const stats = await send('GET /v1/notifications/graph/stats', { as });
    expect(stats.text).not.toContain(development.data._id);
    expect((await send(`GET ${groupAddress}`)).data).toEqual(group.data);
    expect((await send('GET /v1/workflows/comment-mention')).data).toEqual(development.data);
  });
});

describe('addresses', () => {
  it('that do not exist return 404', async () => {
    for (const path of ['/v1', '/v1/nothing', '/v2/feeds', '/v1/workflows/a/b', '//v1/feeds']) {
      expect((await send(`GET ${path}`)).status, path).toBe(404);
    }
  });

  it('return 405 with Allow for other methods', async () => {
    const allowed = async (target: string) => {
      const { status, headers } = await send(target);
      return [status, headers.get('allow')];
    };
    expect(await allowed('DELETE /v1/notification-groups')).toEqual([405, 'GET, POST']);
    expect(await allowed('PUT /v1/notification-groups/1')).toEqual([405, 'GET, PATCH, DELETE']);
    expect(await allowed('PUT /v1/feeds')).toEqual([405, 'GET, POST']);
    expect(await allowed('POST /v1/notifications/graph/stats')).toEqual([405, 'GET']);
  });

  it('accept any text as an id, as one segment that is decoded once', async () => {
    for (const id of ['a/b', 'a%2Fb', 'ä ö?#', 'a+b', '%']) {
      const { status, body } = await send(`GET /v1/workflows/${encodeURIComponent(id)}`);
      expect(status, id).toBe(404);
      expect(body).toMatchObject({ message: expect.stringContaining(`"${id}"`) });
    }
  });

  it('with a broken percent escape return 400', async () => {
    expect((await send('GET /v1/workflows/%ZZ')).status).toBe(400);
    expect((await send('DELETE /v1/feeds/a%E0%A4%A')).status).toBe(400);
  });
});

describe('bodies', () => {
  it('that are not JSON return 400', async () => {
    for (const body of ['{', '{"name":}', "{'name': 1}"]) {
      expect((await send('POST /v1/feeds', { body })).status).toBe(400);
    }
  });

  it('need the content type application/json', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect((await send('POST /v1/feeds', { body: '{"name":"Plain"}', headers })).status).toBe(415);
    const withCharset = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await send('POST /v1/feeds', { body: { name: 'Charset' }, headers: withCharset })).status).toBe(201);
  });

  it('may have up to 100 kB, and those of events 20 MB', async () => {
    const statusOf = async (target: string, toBody: (text: string) => unknown, size: number) => {
      const overhead = JSON.stringify(toBody('')).length;
      return (await send(target, { body: toBody('x'.repeat(size - overhead)) })).status;
    };
    const createFeed = (size: number) => statusOf('POST /v1/feeds', (name) => ({ name }), size);
    expect([await createFeed(102_400), await createFeed(102_401)]).toEqual([201, 413]);
    const toEvent = (file: string) => ({
      name: 'payment-failed',
      to: 'customer-1001',
      payload: { attachments: [{ file }] },
    });
    const trigger = (size: number) => statusOf('POST /v1/events/trigger', toEvent, size);
    expect([await trigger(20 * 2 ** 20), await trigger(20 * 2 ** 20 + 1)]).toEqual([201, 413]);
    expect((await send('GET /v1/notification-groups')).status).toBe(200);
  });
});

describe('an internal error', () => {
  it('returns 500 with an errorId and is logged once with its stack', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using sendBroken = await openSandbox({ file });
    const database = new DatabaseSync(file);
    database.exec(`UPDATE workflows SET document = '{'`);
    database.close();
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});

    const { status, body } = await sendBroken('GET /v1/workflows/comment-mention');
    expect(status).toBe(500);
    expect(body).toMatchObject({ error: 'Internal Server Error', errorId: expect.any(String) });
    expect(log).toHaveBeenCalledTimes(1);
    const [message, error] = log.mock.calls[0] ?? [];
    expect(body).toMatchObject({ errorId: /error (\S+)/.exec(message)?.[1] });
    expect(error).toHaveProperty('stack', expect.stringContaining('workflows.ts'));

    expect((await sendBroken('GET /v1/notification-groups')).status).toBe(200);
  });
});

describe('closing a sandbox', () => {
  it('completes immediately despite keep-alive connections, and may be repeated', async () => {
    const own = await startSandbox();
    const agent = new Agent({ keepAlive: true });
    const call = request(`${own.url}/v1/notification-groups`, { agent, headers: { authorization } }).end();
    const [response] = await once(call, 'response');
    response.resume();
    await once(response, 'end');
    const { hostname, port } = new URL(own.url);
    const unused = createConnection({ host: hostname, port: Number(port) });
    await once(unused, 'connect');

    await Promise.all([own.close(), own.close()]);
    await expect(fetch(`${own.url}/v1/notification-groups`)).rejects.toThrow();
    agent.destroy();
    unused.destroy();
  });

  it('waits for an in-flight request', async () => {
    const own = await startSandbox();
    const body = JSON.stringify({ name: 'Last' });
    const call = request(`${own.url}/v1/feeds`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    call.flushHeaders();
    await once(call, 'continue');

    const closed = own.close();
    call.end(body);
    const [response] = await once(call, 'response');
    expect(response.statusCode).toBe(201);
    expect(response.headers.connection).toBe('close');
    response.resume();
    await closed;
  });
});
