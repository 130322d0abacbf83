import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openSandbox, type SandboxClient } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { PRODUCTION } from '../src/environments.ts';
import { startSandbox } from '../src/sandbox.ts';

interface Entry {
  _id: string;
  count: number;
  templates: string[];
  channels: string[];
}

const TODAY = new Date('2026-03-18T10:30:00.000Z');
const EVENING = new Date('2026-03-18T23:59:59.999Z');
const TOMORROW = new Date('2026-03-19T00:00:05.000Z');

/** Returns the statistics by day. */
async function readStats(send: SandboxClient, query = '', as: 'development' | 'production' = 'development') {
  const { list } = await send(`GET /v1/notifications/graph/stats${query}`, { as });
  // The client has validated the body against the contract, so it is a list of entries.
  return new Map((list as unknown as Entry[]).map((entry) => [entry._id, entry]));
}

function daysBefore(moment: Date, days: number): string {
  return new Date(moment.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

describe('statistics', () => {
  it('cover the last days times 24 hours, so that the first is a part of a day, with the latest first', async () => {
    await using send = await openSandbox({ now: () => TODAY });

    const thirty = await readStats(send, '?days=30');
    expect([...thirty.keys()]).toEqual(Array.from({ length: 31 }, (_, age) => daysBefore(TODAY, age)));

    const one = await readStats(send, '?days=1');
    expect([...one.keys()]).toEqual(['2026-03-18', '2026-03-17']);
    expect(one.get('2026-03-18')).toEqual(thirty.get('2026-03-18'));
    const [part, whole] = [one, thirty].map((stats) => stats.get('2026-03-17')?.count ?? 0);
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(whole ?? 0);
    expect((await readStats(send, '?days=2.9')).size).toBe(3);
    expect((await readStats(send)).size).toBe(33);
  });

  it('refer to existing workflows, and on older days also to a deleted one', async () => {
    await using send = await openSandbox({ now: () => TODAY });
    const stats = await readStats(send, '?days=90');

    const lastDays = new Map<string, string>();
    for (const { _id, templates } of stats.values()) {
      expect(new Set(templates).size).toBe(templates.length);
      for (const template of templates) {
        lastDays.set(template, [lastDays.get(template) ?? '', _id].sort()[1] ?? '');
      }
    }
    const deleted: string[] = [];
    for (const id of lastDays.keys()) {
      if ((await send(`GET /v1/workflows/${id}`)).status === 404) {
        deleted.push(id);
      }
    }
    expect(deleted).toHaveLength(1);
    expect(lastDays.get(deleted[0] ?? '')).toBe(daysBefore(TODAY, 36));
    expect(lastDays.size).toBe(8);
  });

  it('count notifications that all have their messages, by channel', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const sandbox = await startSandbox({ file, now: () => TODAY });
    await fetch(sandbox.url); // The sample traffic is written when it is first read.
    await sandbox.close();
    using database = new DatabaseSync(file, { readOnly: true });
    const notifications = database.prepare('SELECT environment_id, transaction_id, channels FROM notifications').all();
    expect(notifications.length).toBeGreaterThan(2_000);
    await using send = await openSandbox({ now: () => TODAY });
    const before = await readStats(send, '?days=90');
    for (const { environment_id, transaction_id, channels } of notifications.filter((_, i) => i % 400 === 0)) {
      const as = environment_id === PRODUCTION.id ? 'production' : 'development';
      const sent: string[] = JSON.parse(String(channels));
      for (const channel of ['in_app', 'email', 'sms', 'chat', 'push']) {
        const { status } = await send(`DELETE /v1/messages/transaction/${transaction_id}?channel=${channel}`, { as });
        expect([transaction_id, channel, status]).toEqual([
          transaction_id,
          channel,
          sent.includes(channel) ? 204 : 404,
        ]);
      }
      expect((await send(`DELETE /v1/messages/transaction/${transaction_id}`, { as })).status).toBe(404);
    }
    expect(await readStats(send, '?days=90')).toEqual(before);
  });

  it('reject days that are not a number in range', async () => {
    await using send = await openSandbox();
    for (const days of ['many', '', '0', '3651', '1&days=2']) {
      const { status, body } = await send(`GET /v1/notifications/graph/stats?days=${days}`);
      expect(status, `days=${days}`).toBe(422);
      expect(body).toMatchObject({ message: [expect.stringContaining('"days" must be a number')] });
    }
    const unknown = await send('GET /v1/notifications/graph/stats?dayz=3');
    expect(unknown.body).toMatchObject({ message: ['Unknown query parameter "dayz".'] });
  });
});

describe('sample traffic', () => {
  it('is added for new days when a file is opened later, without changing existing days', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const open = (now: Date) => openSandbox({ file, now: () => now });
    const address = '/v1/messages/transaction/sample-transaction-0002';
    let before: Awaited<ReturnType<typeof readStats>>;
    {
      await using send = await open(EVENING);
      before = await readStats(send, '?days=90');
      expect((await send(`DELETE ${address}`)).status).toBe(204);
    }
    {
      await using send = await open(EVENING);
      expect(await readStats(send, '?days=90')).toEqual(before);
    }
    await using send = await open(new Date(TODAY.getTime() + 7 * 86_400_000));
    const after = await readStats(send, '?days=97');
    expect(after.size).toBe(before.size + 7);
    expect([...after].filter(([day]) => before.has(day)).sort()).toEqual([...before].sort());
    expect((await readStats(send, '?days=30')).size).toBe(31);
    expect((await send(`DELETE ${address}`)).status).toBe(404);
  });

  it.each(['development', 'production'] as const)('of today grows during the day in %s', async (as) => {
    let now = new Date('2026-03-17T12:00:00.000Z'); // Creates the sample transactions on the day before.
    await using send = await openSandbox({ now: () => now });
    const counts: number[] = [];
    let firstChannels: number | undefined;
    for (const time of [
      '00:00:00.000',
      '00:10:00.000',
      '06:00:00.000',
      '12:00:00.000',
      '18:00:00.000',
      '23:59:59.999',
    ]) {
      now = new Date(`2026-03-18T${time}Z`);
      const stats = await readStats(send, '?days=30', as);
      expect(stats.size).toBe(time.startsWith('23:59') ? 30 : 31); // Of the first day, then only a millisecond is left.
      const today = stats.get('2026-03-18');
      counts.push(today?.count ?? 0);
      firstChannels ??= today?.channels.length;
    }

    now = TOMORROW;
    const stats = await readStats(send, '?days=31', as);
    const complete = stats.get('2026-03-18')?.count ?? 0;
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect([counts[0], counts.at(-1)]).toEqual([firstChannels, complete]); // The day begins with one notification.
    expect([stats.size, stats.get('2026-03-19')?.count]).toEqual([32, expect.any(Number)]); // The sandbox ran past midnight.
    expect(counts[1]).toBeLessThan(complete * 0.1);
    for (const [i, count] of counts.slice(2, 5).entries()) {
      expect(Math.abs(count / complete - (i + 1) / 4)).toBeLessThan(0.2);
      expect(count).toBeLessThan(complete);
    }
  });

  it('omits workflows that are switched off', async () => {
    let now = TODAY;
    await using send = await openSandbox({ now: () => now });
    const { data } = await send('GET /v1/workflows/comment-mention');
    await send(`PUT /v1/workflows/${data._id}/status`, { body: { active: false } });
    now = TOMORROW;
    const stats = await readStats(send, '?days=2');
    expect(stats.get('2026-03-18')?.templates).toContain(data._id);
    expect(stats.get('2026-03-19')?.templates).not.toContain(data._id);
  });
});
