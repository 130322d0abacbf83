import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { readKit } from '../support/deploy.ts';
import { blocks, ROOT, read } from '../support/docs.ts';
import { listSources } from '../support/imports.ts';
import { findPrograms } from '../support/programs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { listQueries, readAlerts, readDashboard } from './queries.ts';

const RUNBOOKS = read('docs/runbooks.md');
const alerts = readAlerts();

const PROMTOOL = findPrograms('promtool');

describe.runIf(PROMTOOL.areThere)(`promtool${PROMTOOL.note}`, () => {
  it.each([
    ['check', 'rules', '../helm/alerts.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])('%s %s %s', (...args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: join(ROOT, 'deploy/prometheus'),
      encoding: 'utf8',
    });
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});

it.runIf(PROMTOOL.areThere)(
  `the optional alert of docs/production.md fires after an hour without operations${PROMTOOL.note}`,
  async () => {
    await using folder = await createTemporaryFolder();
    const [rules = ''] = blocks(read('docs/production.md'), 'yaml').filter((block) =>
      block.includes('NotigraphNoTraffic'),
    );
    await writeFile(folder.path('rules.yml'), rules);
    const firing = (eval_time: string, namespaces: readonly string[]) => ({
      expr: 'group by (namespace) (ALERTS{alertname="NotigraphNoTraffic", alertstate="firing"})',
      eval_time,
      exp_samples: namespaces.map((namespace) => ({ labels: `{namespace="${namespace}"}`, value: 1 })),
    });
    const series = (name: string, namespace: string, values: string) => ({
      series: `${name}{job="notigraph", namespace="${namespace}"}`,
      values,
    });
    const test = {
      interval: '1m',
      input_series: [
        ...['busy', 'silent', 'new'].map((namespace) => series('up', namespace, '1x200')),
        series('notigraph_operations_total', 'busy', '0+1x200'),
        series('notigraph_operations_total', 'silent', '0+1x30 30x170'),
      ],
      promql_expr_test: [firing('55m', []), firing('80m', ['new']), firing('110m', ['new', 'silent'])],
    };
    await writeFile(
      folder.path('test.yml'),
      stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [test] }),
    );
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', folder.path('test.yml')], {
      encoding: 'utf8',
    });
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
  },
);

describe('alerts', () => {
  it.each(alerts)('$alert says what to do first, and has a runbook and a test', ({ alert, labels, annotations }) => {
    expect(labels.severity).toMatch(/^(?:critical|warning)$/);
    expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
    const page = `${manifest.homepage.replace('#readme', '')}/blob/main/docs/runbooks.md`;
    expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`);
    const cases: unknown[] = parse(readKit('prometheus/alerts.test.yml')).tests;
    const fires = `{alertname="${alert}"}`;
    expect(RUNBOOKS).toMatch(new RegExp(`^\\| [^|]*\\b${alert}\\b`, 'm')); // What to tell users.
    expect(cases.some((each) => JSON.stringify(each).includes(JSON.stringify(fires).slice(1, -1)))).toBe(true);
  });

  it('each has a section in docs/runbooks.md, and each section an alert', () => {
    const sections = [...RUNBOOKS.matchAll(/^## (Notigraph\w+)$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });
});

it('alertmanager.yml names only alerts that exist, and silences none that is the worse one', () => {
  const severityOf = new Map(alerts.map(({ alert, labels }) => [alert, labels.severity]));
  const rules: Record<'source_matchers' | 'target_matchers', string[]>[] = parse(
    readKit('prometheus/alertmanager.yml'),
  ).inhibit_rules;
  const namesIn = (matchers: readonly string[]) =>
    matchers.flatMap((matcher) => {
      const [, prefix = '', names = ''] = /^alertname=~?"(Notigraph\w*)(?:\(([\w|]+)\))?"$/.exec(matcher) ?? [];
      return prefix === '' ? [] : names.split('|').map((name) => prefix + name);
    });
  const pairs = rules.map((rule) => [namesIn(rule.source_matchers), namesIn(rule.target_matchers)] as const);
  expect(pairs.flat(2).filter((name) => !severityOf.has(name))).toEqual([]);
  expect(pairs.length).toBeGreaterThan(6);
  for (const [sources, targets] of pairs) {
    const worst = targets.some((name) => severityOf.get(name) === 'critical') ? 'critical' : 'warning';
    expect(sources.filter((name) => worst === 'critical' && severityOf.get(name) !== 'critical')).toEqual([]);
  }
});

it('alerts and dashboard use only metrics that the gateway has and docs/monitoring.md lists', () => {
  const source = ['src', 'packages/cli/src'].flatMap(listSources).map(read).join('\n');
  const listed = read('docs/monitoring.md');
  const metrics = listQueries()
    .flatMap(({ query }) => query.match(/(?<!:)\bnotigraph_\w+/g) ?? [])
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
  expect(new Set(metrics).size).toBeGreaterThan(8);
  expect(metrics.filter((name) => !source.includes(`'${name}'`) || !listed.includes(`\`${name}\``))).toEqual([]);
});

it('the panels of the dashboard have distinct ids and do not overlap', () => {
  const { panels } = readDashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  expect(cells.length).toBeGreaterThan(1_000);
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});
