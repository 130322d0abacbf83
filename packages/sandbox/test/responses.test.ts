import { describe, expect, it } from 'vitest';
import { openSandbox, openSandboxOfFile } from '../../../test/support/sandbox-client.ts';
import { SANDBOX_KEYS } from '../src/sandbox.ts';

const GROUPS = 'GET /v1/notification-groups';

const shared = openSandboxOfFile();

describe('the headers of responses', () => {
  it('report a rate limit per API key, which applies to a second', async () => {
    let now = Date.parse('2026-03-17T12:00:00.000Z');
    await using send = await openSandbox({ rateLimit: 2, now: () => new Date(now) });
    const statusAndRemaining = async (target: string, as: keyof typeof SANDBOX_KEYS = 'development') => {
      const { status, headers } = await send(target, { as });
      expect(headers.get('ratelimit-limit')).toBe('2');
      expect(headers.get('ratelimit-reset')).toBe('1');
      expect(headers.get('ratelimit-policy')).toBe('2;w=1;category="global"');
      return [status, headers.get('ratelimit-remaining'), headers.get('retry-after')];
    };
    expect(await statusAndRemaining(GROUPS)).toEqual([200, '1', null]);
    expect(await statusAndRemaining('GET /v1/workflows/unknown')).toEqual([404, '0', null]);
    expect(await statusAndRemaining(GROUPS)).toEqual([429, '0', '1']);
    expect(await statusAndRemaining(GROUPS, 'production')).toEqual([200, '1', null]);
    now += 1000;
    expect(await statusAndRemaining(GROUPS)).toEqual([200, '1', null]);
  });

  it('report a limit that is out of reach without a setting', async () => {
    const { headers } = await shared(GROUPS);
    expect(headers.get('ratelimit-policy')).toBe('100000;w=1;category="global"');
  });

  it('have the ETag of a read, which saves sending it again until it changes', async () => {
    await using send = await openSandbox();
    const get = (ifNoneMatch: string) =>
      fetch(`${send.url}/v1/notification-groups`, {
        headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'if-none-match': ifNoneMatch },
      });
    const etag = (await send(GROUPS)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const response = await get(known);
      expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, etag, '']);
    }
    expect((await get('W/"other"')).status).toBe(200);
    await send('POST /v1/notification-groups', { body: { name: 'New' } });
    const changed = await get(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect((await send('GET /v1/workflows/unknown')).headers.get('etag')).toBeNull();
  });

  it('repeat the Idempotency-Key, and link to an explanation if it was used with another body', async () => {
    await using send = await openSandbox();
    const create = async (name: string) => {
      const headers = { 'idempotency-key': 'key-1' };
      const response = await send('POST /v1/notification-groups', { body: { name }, headers });
      return [response.status, response.headers.get('idempotency-key'), response.headers.get('link')];
    };
    expect(await create('First')).toEqual([201, 'key-1', null]);
    expect(await create('First')).toEqual([201, 'key-1', null]);
    expect(await create('Second')).toEqual([
      422,
      'key-1',
      expect.stringMatching(/^<https:\/\/[^>]+>; rel="describedby"$/),
    ]);
  });
});

describe('records', () => {
  it('of groups have an id beside _id', async () => {
    const { list } = await shared(GROUPS);
    expect(list.length).toBeGreaterThan(0);
    expect(list.map(({ id }) => id)).toEqual(list.map(({ _id }) => _id));
  });

  it('of subscribers name the integration of each channel, the same every time', async () => {
    const channelsOf = async (subscriberId: string, channels: object[]) =>
      (await shared('POST /v1/subscribers', { body: { subscriberId, channels } })).data.channels;
    const fcm = { providerId: 'fcm', credentials: { deviceTokens: ['t'] } };
    const [first] = [await channelsOf('a', [fcm])].flat();
    expect(first).toEqual({ ...fcm, _integrationId: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect(await channelsOf('b', [fcm])).toEqual([first]);
    expect(await channelsOf('c', [{ ...fcm, integrationIdentifier: 'fcm-2' }])).not.toEqual([first]);
  });

  it('of subscribers are rejected with an email address, avatar or locale that the service rejects', async () => {
    const create = (fields: object) => shared('POST /v1/subscribers', { body: { subscriberId: 'a', ...fields } });
    const invalid = await create({ email: 'nobody', avatar: 'ftp://example.com/a.png', locale: 'not a locale' });
    expect(invalid.status).toBe(422);
    expect(invalid.body).toMatchObject({
      message: [
        '"email" must be an email address.',
        '"avatar" must be an http or https URL.',
        '"locale" must be a locale such as en or en_US.',
      ],
    });
    for (const email of ['', 'a@b', '@example.com', 'a@@example.com']) {
      expect((await create({ email })).status, email).toBe(422);
    }
    for (const locale of ['en', 'de-CH-1996', 'zh_Hant_TW']) {
      const avatar = 'http://example.com/a.png';
      expect((await create({ locale, avatar, email: 'a.b+c@mail.example.com' })).status, locale).toBe(201);
    }
  });
});

describe('the page at /', () => {
  it('shows without a key the keys and a request that works first, then the records of each environment', async () => {
    const response = await fetch(shared.url());
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    for (const text of [...Object.values(SANDBOX_KEYS), `'${shared.url()}/v1/notification-groups'`]) {
      expect(page).toContain(text);
    }
    for (const record of ['weekly-digest', 'Review request (inactive)', 'Billing', 'sample-transaction-0001']) {
      expect(page).toContain(record);
    }
    expect((await fetch(shared.url(), { method: 'POST' })).status).toBe(404);

    const [intro = '', ...environments] = page.split(/^# /m);
    const places = [...Object.values(SANDBOX_KEYS), 'curl'].map((text) => intro.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(environments).toHaveLength(2);
    for (const environment of environments) {
      const titles = environment.split('\n').filter((line) => /^[A-Z]/.test(line));
      expect(titles).toEqual([
        ...['Workflows', 'Subscribers', 'Topics', 'Notification groups', 'Feeds', 'Transactions with messages'],
      ]);
    }
  });
});
