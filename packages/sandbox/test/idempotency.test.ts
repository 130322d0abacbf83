import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { describe, expect, it } from 'vitest';
import { openSandboxOfFile } from '../../../test/support/sandbox-client.ts';
import { SANDBOX_KEYS } from '../src/sandbox.ts';

const send = openSandboxOfFile();

/** Sends the head of a request with an Idempotency-Key. Returns once the sandbox has received it, and waits for the body. */
async function sendHead(key: string, length: number) {
  const sending = request(`${send.url()}/v1/feeds`, {
    method: 'POST',
    headers: {
      authorization: `ApiKey ${SANDBOX_KEYS.development}`,
      'content-type': 'application/json',
      'content-length': length,
      'idempotency-key': key,
      expect: '100-continue',
    },
  });
  sending.flushHeaders();
  await once(sending, 'continue');
  return sending;
}

const withKey = (key: string, body: unknown) => ({ body, headers: { 'idempotency-key': key } });

describe('a repeated Idempotency-Key', () => {
  it('replays the first response byte for byte and writes nothing', async () => {
    const first = await send('POST /v1/notification-groups', withKey('replay', { name: 'Once' }));
    const second = await send('POST /v1/notification-groups', withKey('replay', { name: 'Once' }));
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replay')).toBeNull();
    expect(second.status).toBe(201);
    expect(second.headers.get('idempotency-replay')).toBe('true');
    expect(second.text).toBe(first.text);
    const { list } = await send('GET /v1/notification-groups');
    expect(list.filter(({ name }) => name === 'Once')).toHaveLength(1);
  });

  it('works with PATCH as well', async () => {
    const { data } = await send('POST /v1/notification-groups', { body: { name: 'Before' } });
    const address = `/v1/notification-groups/${data._id}`;
    await send(`PATCH ${address}`, withKey('patch', { name: 'First' }));
    await send(`PATCH ${address}`, { body: { name: 'Second' } });
    const replay = await send(`PATCH ${address}`, withKey('patch', { name: 'First' }));
    expect(replay.headers.get('idempotency-replay')).toBe('true');
    expect((await send(`GET ${address}`)).data.name).toBe('Second');
  });

  it('replays rejections too, even if the request would now succeed', async () => {
    const { data } = await send('POST /v1/feeds', { body: { name: 'Taken' } });
    const refused = await send('POST /v1/feeds', withKey('refusal', { name: 'Taken' }));
    expect(refused.status).toBe(409);
    await send(`DELETE /v1/feeds/${data._id}`);
    const replay = await send('POST /v1/feeds', withKey('refusal', { name: 'Taken' }));
    expect(replay.status).toBe(409);
    expect(replay.text).toBe(refused.text);
    expect(replay.headers.get('idempotency-replay')).toBe('true');
  });

  it('is not tied to the path: another endpoint replays the wrong response', async () => {
    const group = await send('POST /v1/notification-groups', withKey('path', { name: 'Group or feed' }));
    const response = await fetch(`${send.url()}/v1/feeds`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${SANDBOX_KEYS.development}`,
        'content-type': 'application/json',
        'idempotency-key': 'path',
      },
      body: JSON.stringify({ name: 'Group or feed' }),
    });
    expect(await response.text()).toBe(group.text);
  });

  it('is not tied to the environment: the API key of another one replays the response of the first, and writes nothing', async () => {
    const first = await send('POST /v1/notification-groups', withKey('both', { name: 'Both' }));
    const ofProduction = { ...withKey('both', { name: 'Both' }), as: 'production' as const };
    const other = await send('POST /v1/notification-groups', ofProduction);
    expect([other.status, other.headers.get('idempotency-replay'), other.text]).toEqual([201, 'true', first.text]);
    const { list } = await send('GET /v1/notification-groups', { as: 'production' });
    expect(list.map(({ name }) => name)).not.toContain('Both');
  });

  it('is not stored for a request without a valid API key', async () => {
    const refused = await send('POST /v1/feeds', { ...withKey('unauthorized', { name: 'Locked' }), as: null });
    expect(refused.status).toBe(401);
    expect((await send('POST /v1/feeds', withKey('unauthorized', { name: 'Locked' }))).status).toBe(201);
  });
});

describe('an Idempotency-Key', () => {
  it('may have up to 255 characters', async () => {
    const longest = await send('POST /v1/feeds', withKey('k'.repeat(255), { name: 'Longest key' }));
    expect(longest.status).toBe(201);
    const tooLong = await send('POST /v1/feeds', withKey('k'.repeat(256), { name: 'Too long a key' }));
    expect(tooLong.status).toBe(400);
  });

  it('is ignored on idempotent methods', async () => {
    const { data } = await send('GET /v1/workflows/weekly-digest');
    const address = `PUT /v1/workflows/${data._id}/status`;
    expect((await send(address, withKey('put', { active: false }))).status).toBe(200);
    expect((await send(address, withKey('put', { active: false }))).status).toBe(400);
  });

  it('returns 409 with Retry-After while its first request is in flight', async () => {
    const body = JSON.stringify({ name: 'Slow' });
    const slow = await sendHead('slow', body.length);
    const early = await send('POST /v1/feeds', withKey('slow', { name: 'Slow' }));
    expect(early.status).toBe(409);
    expect(early.headers.get('retry-after')).toBe('1');

    slow.end(body);
    const [response] = await once(slow, 'response');
    expect(response.statusCode).toBe(201);
    const answer = await text(response);

    const late = await send('POST /v1/feeds', withKey('slow', { name: 'Slow' }));
    expect(late.text).toBe(answer);
    expect(late.headers.get('idempotency-replay')).toBe('true');
  });

  it('can be used again if its first request was aborted', async () => {
    const broken = await sendHead('broken', 100);
    const broke = once(broken, 'error');
    broken.destroy();
    await broke;
    await expect
      .poll(async () => (await send('POST /v1/feeds', withKey('broken', { name: 'Broken' }))).status)
      .toBe(201);
  });
});
