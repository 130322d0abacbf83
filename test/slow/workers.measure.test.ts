import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { findWorkerPids, scrape, sendLoad, waitForLogLines } from '../support/worker-load.ts';

/** Working directory of the processes of one test. */
let cwd: string;

beforeEach(async () => {
  const folder = await createTemporaryFolder();
  cwd = folder.path();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

const startWorkers = (count: number) =>
  startNotigraph({ cwd, args: ['--sandbox', ':memory:', '--workers', `${count}`] });

it('no count decreases when workers are killed, and only their last second is lost', async () => {
  await using notigraph = await startWorkers(4);
  const kills: { pid: number; at: number }[] = [];
  const counted = async () => {
    const counts = await scrape(notigraph.url, /^notigraph_operations_total/);
    return counts['notigraph_operations_total{type="query",code="OK"}'] ?? 0;
  };
  let last = 0;
  for (let round = 0; round < 3; round += 1) {
    const load = sendLoad(notigraph.url, {
      requests: 2_000,
      connections: 32,
      onAnswer(answered) {
        const [pid] = answered === 1_000 ? findWorkerPids(notigraph) : [];
        if (pid !== undefined) {
          process.kill(pid, 'SIGKILL');
          kills.push({ pid, at: Date.now() });
        }
      },
    });
    while (!(await Promise.race([load.then(() => true), sleep(50, false)]))) {
      const now = await counted().catch(() => last); // The worker that answers may be the one that is killed.
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    expect((await load).statuses).toEqual({ 200: 2_000 });
    await waitForLogLines(notigraph, 'a worker listens in its place', round + 1);
  }
  const total = await counted();
  await notigraph.stop('SIGTERM'); // The rest of the log. A killed worker may not have written its last lines.
  const lines = await waitForLogLines(notigraph, 'operation', 0);
  const isLost = ({ pid, time }: { pid: number; time: string }) =>
    kills.some((kill) => kill.pid === pid && Date.parse(time) > kill.at - 5_000); // Five times as long, for a busy machine.
  expect(kills).toHaveLength(3);
  expect(lines.length).toBeGreaterThanOrEqual(6_000 - 3 * 32);
  expect(total).toBeGreaterThanOrEqual(lines.filter((line) => !isLost(line)).length);
  expect(total).toBeLessThanOrEqual(lines.length + 3 * 32);
}, 300_000);

it('25 killed workers leave no descriptors in the primary and no open connections of clients', async () => {
  await using notigraph = await startWorkers(5);
  await sendLoad(notigraph.url, { requests: 100, connections: 20 });
  await waitForLogLines(notigraph, 'operation', 100); // The log names the workers.
  const [worker = 0] = findWorkerPids(notigraph);
  const [, primary = ''] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${worker}/status`, 'utf8')) ?? [];
  const countFiles = () => readdirSync(`/proc/${primary}/fd`).length;
  const before = countFiles();
  for (let killed = 5; killed <= 25; killed += 5) {
    const load = sendLoad(notigraph.url, { requests: 500, connections: 50 });
    for (const pid of findWorkerPids(notigraph)) {
      process.kill(pid, 'SIGKILL');
    }
    expect((await load).statuses).toEqual({ 200: 500 });
    await waitForLogLines(notigraph, 'a worker listens in its place', killed);
  }
  const countConnections = async () =>
    (await scrape(notigraph.url, /^notigraph_connections/)).notigraph_connections ?? Number.NaN;
  await expect.poll(countConnections, { interval: 500 }).toBeLessThanOrEqual(2); // Those of the scrapes.
  await expect.poll(countFiles).toBeLessThanOrEqual(before + 1);
}, 300_000);

it('64 connections are spread evenly over 4 workers', async () => {
  await using notigraph = await startWorkers(4);
  const total = 64;
  await sendLoad(notigraph.url, { requests: total, connections: 1, reset: true }); // One after another, so that no worker is busy.
  const pids = (await waitForLogLines(notigraph, 'operation', total)).map(({ pid }) => pid);
  const shares = [...Map.groupBy(pids, (pid) => pid).values()].map(({ length }) => length / total);
  console.info(`shares of connections: ${shares.join(', ')}`);
  expect(shares).toHaveLength(4);
  expect(Math.max(...shares)).toBeLessThan(0.35);
  expect(Math.min(...shares)).toBeGreaterThan(0.15);
}, 300_000);

it('a flood of connections that are reset leaves clients their share of every worker', async () => {
  await using notigraph = await startWorkers(2);
  const { hostname, port } = new URL(notigraph.url);
  let isFlooding = true;

  /** Connects and resets 1,400 times a second. Returns how often. */
  async function flood(): Promise<number> {
    const startedAt = performance.now();
    let connected = 0;
    for (let sent = 0; isFlooding; await sleep(5)) {
      for (const due = 1.4 * (performance.now() - startedAt); sent < due; sent += 1) {
        const socket = connect(Number(port), hostname, () => {
          connected += 1;
          socket.resetAndDestroy();
        });
        socket.on('error', () => {});
      }
    }
    return connected;
  }

  /** Sends 100 operations, each on a new connection. Returns their median latency, in milliseconds. */
  async function medianLatency(): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < 100; i += 1) {
      const sentAt = performance.now();
      const load = await sendLoad(notigraph.url, { requests: 1, connections: 1, reset: true });
      times.push(performance.now() - sentAt);
      expect(load).toEqual({ statuses: { 200: 1 }, cutOff: 0 });
    }
    return times.toSorted((a, b) => a - b)[50] ?? 0;
  }

  const before = await medianLatency();
  const flooded = flood();
  const during = await medianLatency();
  isFlooding = false;
  console.info(`${await flooded} connections were reset; median latency before and meanwhile: ${before}, ${during} ms`);
  expect(during).toBeLessThan(100 + 3 * before); // On an idle machine, it is below 10 ms.
  const pids = (await waitForLogLines(notigraph, 'operation', 200)).slice(100).map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(2);
}, 300_000);
