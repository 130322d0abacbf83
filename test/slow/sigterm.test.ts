import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startNotigraph } from '../support/process.ts';
import { feed, group } from '../support/records.ts';
import { sampleSize } from '../support/samples.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService, type TestService } from '../support/service.ts';

const GROUPS = '{ notificationGroups { name } }';
const CREATE_FEED = 'mutation { createFeed(input: { name: "News" }) { ... on CreateFeedSuccess { feed { name } } } }';

/** Working directory of the processes of one test. */
let cwd: string;

beforeEach(async () => {
  const folder = await createTemporaryFolder();
  cwd = folder.path();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

describe('SIGTERM under load', () => {
  const CLIENTS = 8;

  /** Time for all clients to send one more request, even on a busy machine. */
  const LAME_DUCK_MS = 3_000;

  /** Sends operations one after the other until connections are refused, with pauses as `Retry-After` says. @returns the outcome of each */
  async function sendUntilRefused(url: string, client: number, onAnswer: () => void): Promise<string[]> {
    const { origin, pathname } = new URL(url);
    const pool = new Pool(origin, { connections: 1 });
    const outcomes: string[] = [];
    while (outcomes.at(-1) !== 'refused') {
      try {
        const { statusCode, headers, body } = await pool.request({
          path: pathname,
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `ApiKey key-${client}` },
          body: JSON.stringify({ query: client % 2 === 0 ? GROUPS : CREATE_FEED }),
        });
        const answer = await body.text();
        const isWhole = statusCode === 200 ? !answer.includes('"errors"') : headers['retry-after'] === '1';
        outcomes.push(`${statusCode}${isWhole ? '' : ` ${answer}`}`);
        onAnswer();
        if (statusCode === 503) {
          await sleep(Number(headers['retry-after']) * 1_000);
        }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
        outcomes.push(code === 'ECONNREFUSED' ? 'refused' : `cut off: ${code}`);
      }
    }
    await pool.close();
    return outcomes;
  }

  /** Runs a process under load and stops it after this number of responses. @returns its exit and the outcomes that clients saw */
  async function stopUnderLoad(upstream: TestService, answers: number) {
    await using notigraph = await startNotigraph({
      cwd,
      args: ['--upstream', upstream.url],
      // Only the shutdown causes 503, even on a busy machine.
      env: { NOTIGRAPH_LAME_DUCK_MS: `${LAME_DUCK_MS}`, NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000' },
    });
    const { promise: warm, resolve } = Promise.withResolvers<void>();
    let answered = 0;
    const onAnswer = () => {
      answered += 1;
      if (answered === answers) {
        resolve();
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, client) => sendUntilRefused(notigraph.url, client, onAnswer));
    await warm;
    const { code, signal, stderr } = await notigraph.stop('SIGTERM');
    return { ending: { code, signal, stderr }, outcomes: await Promise.all(clients) };
  }

  it('lets every accepted request finish, with exit code 0, in repeated runs', async () => {
    await using upstream = await startService(async ({ method }) => {
      await sleep(5);
      return method === 'POST'
        ? { status: 201, body: { data: feed({ name: 'News' }) } }
        : { body: { data: [group()] } };
    });
    for (let round = 0; round < sampleSize(1, 5); round += 1) {
      const runs = await Promise.all(
        [10, 25 + round, 60 + 7 * round, 120 + round].map((answers) => stopUnderLoad(upstream, answers)),
      );
      for (const { ending, outcomes } of runs) {
        expect(ending).toEqual({ code: 0, signal: null, stderr: '' });
        for (const ofClient of outcomes) {
          expect(ofClient.join(' ')).toMatch(/^(?:200 )*(?:503 )+refused$/);
        }
        expect(outcomes.flat()).toContain('200');
      }
    }
  }, 300_000);
});
