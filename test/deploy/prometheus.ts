// Runs Prometheus with the deployment kit, and reads the alerts that fire.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { readKit } from '../support/deploy.ts';
import { findPrograms } from '../support/programs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

/** Whether Prometheus and its `promtool` are installed, and what ends the titles of tests that are left out without them. */
export const { areThere: hasPrometheus, note: prometheusOnly } = findPrograms('prometheus', 'promtool');

const Vector = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});
const Rules = z.object({
  data: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ health: z.string() })) })),
  }),
});

/** Gateways that are scraped, with additional labels. */
export interface Targets {
  /** Hosts with ports. */
  targets: readonly string[];
  labels?: Readonly<Record<string, string>>;
}

/** Seconds of the units of Prometheus. */
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Returns rules whose windows are shorter. Rates need several scrapes, so a window has at least 5 s. */
const withShorterWindows = (rules: string, divisor: number): string =>
  rules.replaceAll(/(?<=\[|offset |for: )(\d+)([smh])\b/g, (_, count: string, unit: string) => {
    const seconds = (Number(count) * (SECONDS[unit] ?? 1)) / divisor;
    return `${Math.max(5, Math.round(seconds))}s`;
  });

export interface PrometheusOptions {
  /** Makes the windows of the rules shorter by this factor. @default 1 */
  divisor?: number;
  /** Name of the scraped job. @default that of the deployment kit */
  job?: string;
  /** Rules in YAML. @default those of the deployment kit */
  rules?: string;
}

/** Starts Prometheus with the configuration of the deployment kit, which scrapes these targets every second. */
export async function startPrometheus(
  targets: readonly Targets[],
  { divisor = 1, job, rules = readKit('helm/alerts.yml') }: PrometheusOptions = {},
) {
  const folder = await createTemporaryFolder();
  const [{ job_name }] = parse(readKit('prometheus/prometheus.yml')).scrape_configs;
  const file = folder.path('prometheus.yml');
  await writeFile(folder.path('alerts.yml'), divisor === 1 ? rules : withShorterWindows(rules, divisor));
  await writeFile(
    file,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{ job_name: job ?? job_name, static_configs: targets }],
    }),
  );
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${folder.path('data')}`, '--web.listen-address=127.0.0.1:0'],
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
  const evaluate = async (query: string) =>
    Vector.parse(await api(`query?query=${encodeURIComponent(query)}`)).data.result;
  return {
    query: async (query: string): Promise<number[]> =>
      (await evaluate(query)).map(({ value: [, value] }) => Number(value)),
    /** Returns the names of the alerts that fire for a namespace. */
    async firing(namespace: string): Promise<string[]> {
      const found = await evaluate(`group by (alertname) (ALERTS{alertstate="firing", namespace="${namespace}"})`);
      return found.map(({ metric }) => metric.alertname ?? '').toSorted();
    },
    /** Returns the codes in the alerts that fire for a namespace. */
    async codes(namespace: string): Promise<string[]> {
      const found = await evaluate(`group by (code) (ALERTS{alertstate="firing", namespace="${namespace}", code!=""})`);
      return found.map(({ metric }) => metric.code ?? '').toSorted();
    },
    /** Returns the different states of all rules: `ok`, `unknown` before the first evaluation, or `err`. */
    async ruleHealth(): Promise<Set<string>> {
      const { data } = Rules.parse(await api('rules'));
      return new Set(data.groups.flatMap(({ rules }) => rules.map(({ health }) => health)));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}
