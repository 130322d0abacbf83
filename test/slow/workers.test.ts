import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { findWorkerPids, killWorker, scrape, sendLoad, waitForLogLines } from '../support/worker-load.ts';

/** Working directory of the processes of one test. */
let cwd: string;

beforeEach(async () => {
  const folder = await createTemporaryFolder();
  cwd = folder.path();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

const startWorkers = (count: number) =>
  startNotigraph({ cwd, args: ['--sandbox', ':memory:', '--workers', `${count}`] });

it('10,000 requests are counted, although one of 4 workers is killed meanwhile', async () => {
  await using notigraph = await startWorkers(4);
  const { statuses, cutOff } = await sendLoad(notigraph.url, {
    requests: 10_000,
    connections: 32,
    onAnswer(answered) {
      if (answered === 5_000) {
        killWorker(notigraph);
      }
    },
  });
  expect(statuses).toEqual({ 200: 10_000 });
  await waitForLogLines(notigraph, 'a worker ended and is replaced', 1);
  const counts = await scrape(notigraph.url, /^notigraph_operations_total/);
  const counted = Number(counts['notigraph_operations_total{type="query",code="OK"}']);
  // Every answered request is counted. Those that were cut off between their count and their response are counted again when they are repeated.
  expect(counted).toBeGreaterThanOrEqual(10_000);
  expect(counted).toBeLessThanOrEqual(10_000 + cutOff);
  console.info(`${counted} counted, ${cutOff} cut off`);
}, 300_000);

it('50 killed workers leave no descriptors in the primary', async () => {
  await using notigraph = await startWorkers(5);
  await sendLoad(notigraph.url, { requests: 100, connections: 20 });
  const [worker = 0] = findWorkerPids(notigraph);
  const [, primary = ''] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${worker}/status`, 'utf8')) ?? [];
  const countFiles = () => readdirSync(`/proc/${primary}/fd`).length;
  const before = countFiles();
  for (let killed = 5; killed <= 50; killed += 5) {
    const load = sendLoad(notigraph.url, { requests: 500, connections: 50 });
    for (const pid of findWorkerPids(notigraph)) {
      process.kill(pid, 'SIGKILL');
    }
    expect((await load).statuses).toEqual({ 200: 500 });
    await waitForLogLines(notigraph, 'a worker listens in its place', killed);
  }
  await expect.poll(countFiles).toBeLessThanOrEqual(before + 1); // The connection of the scrape.
}, 300_000);

it('64 connections are spread evenly over 4 workers', async () => {
  await using notigraph = await startWorkers(4);
  const rounds = 8; // A worker that has to wait for a processor gets fewer connections for a moment.
  for (let round = 0; round < rounds; round += 1) {
    await sendLoad(notigraph.url, { requests: 640, connections: 64 });
  }
  const requests = rounds * 640;
  const pids = (await waitForLogLines(notigraph, 'operation', requests)).map(({ pid }) => pid);
  const shares = [...Map.groupBy(pids, (pid) => pid).values()].map(({ length }) => length / requests);
  console.info(`shares of requests: ${shares.join(', ')}`);
  expect(shares).toHaveLength(4);
  expect(Math.max(...shares)).toBeLessThan(0.35);
  expect(Math.min(...shares)).toBeGreaterThan(0.15);
}, 300_000);
