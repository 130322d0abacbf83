import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { readKit } from './deploy.ts';
import { ROOT } from './docs.ts';

/** Whether Prometheus and its `promtool` are installed. */
export const hasPrometheus =
  spawnSync('prometheus', ['--version']).status === 0 && spawnSync('promtool', ['--version']).status === 0;

/** Prometheus that scrapes gateways every second, with the alerts of the deployment kit. */
export interface TestPrometheus extends AsyncDisposable {
  /** Evaluates a query and returns its values. */
  query(query: string): Promise<number[]>;
  /** Returns the different states of all rules: `ok`, `unknown` before the first evaluation, or `err`. */
  ruleHealth(): Promise<Set<string>>;
}

const Vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const Rules = z.object({
  data: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ health: z.string() })) })),
  }),
});

/** Starts Prometheus with the configuration of the deployment kit, but other targets. */
export async function startPrometheus(targets: readonly string[]): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-prometheus-'));
  const config = parse(readKit('prometheus/prometheus.yml'));
  const [{ job_name }] = config.scrape_configs;
  const file = join(folder, 'prometheus.yml');
  await writeFile(
    file,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: config.rule_files.map((rules: string) => join(ROOT, 'deploy/prometheus', rules)),
      scrape_configs: [{ job_name, static_configs: [{ targets }] }],
    }),
  );
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, '--web.listen-address=127.0.0.1:0'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let printed = '';
  const started = /msg="Listening on" address=(\S+).*Server is ready to receive web requests/s;
  const exited = once(child, 'exit').then(() => [undefined]);
  while (!started.test(printed)) {
    const [chunk] = await Promise.race([once(child.stderr, 'data'), exited]);
    if (chunk === undefined) {
      throw new Error(`Prometheus ended before it was ready:\n${printed}`);
    }
    printed += String(chunk);
  }
  child.stderr.resume();
  const api = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${started.exec(printed)?.[1]}/api/v1/${path}`);
    const body = await response.json();
    if (!response.ok) {
      throw new Error(`${path}: ${JSON.stringify(body)}`);
    }
    return body;
  };
  return {
    async query(query) {
      const { data } = Vector.parse(await api(`query?query=${encodeURIComponent(query)}`));
      return data.result.map(({ value: [, value] }) => Number(value));
    },
    async ruleHealth() {
      const { data } = Rules.parse(await api('rules'));
      return new Set(data.groups.flatMap(({ rules }) => rules.map(({ health }) => health)));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
