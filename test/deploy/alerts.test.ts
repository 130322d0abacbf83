import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { ERROR_CODES } from '../../src/errors/codes.ts';
import { readKit } from '../support/deploy.ts';
import { names, read } from '../support/docs.ts';
import { listSources } from '../support/imports.ts';
import { listedLabels, listQueries, readAlerts, readDashboard, readSelection } from './queries.ts';

const RUNBOOKS = read('docs/runbooks.md');
const CASES: unknown[] = parse(readKit('prometheus/alerts.test.yml')).tests;
const alerts = readAlerts();

describe('alerts', () => {
  it.each(alerts)('$alert says what to do first, and has a runbook and a test', ({ alert, labels, annotations }) => {
    expect(labels.severity).toMatch(/^(?:critical|warning)$/);
    expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
    const page = `${manifest.homepage.replace('#readme', '')}/blob/main/docs/runbooks.md`;
    expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`);
    const fires = `{alertname="${alert}"}`;
    expect(RUNBOOKS).toMatch(new RegExp(`^\\| [^|]*\\b${alert}\\b`, 'm')); // What to tell users.
    expect(CASES.some((each) => JSON.stringify(each).includes(JSON.stringify(fires).slice(1, -1)))).toBe(true);
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

describe('alerts and dashboard', () => {
  const MONITORING = read('docs/monitoring.md').replaceAll(/^```[\s\S]*?^```/gm, '');
  const SOURCE = ['src', 'packages/cli/src'].flatMap(listSources).map(read).join('\n');

  /** Labels that Prometheus adds to all metrics, and to alerts. */
  const OF_TARGET = ['namespace', 'job', 'pod', 'instance'];

  /** Values of labels that the page lists, and the codes. */
  const VALUES = [...names(MONITORING), ...Object.keys(ERROR_CODES), 'OK', 'OTHER', 'notigraph'];

  /** Returns the labels of a metric; undefined if the gateway doesn't have it, or the page doesn't list it. */
  function labelsOf(metric: string): string[] | undefined {
    const isKnown = metric === 'up' || SOURCE.includes(`'${metric.replace(/_(?:bucket|sum|count)$/, '')}'`);
    const labels = metric === 'up' ? [] : listedLabels(metric);
    return isKnown && labels ? [...OF_TARGET, ...labels] : undefined;
  }

  /** Returns what a query selects that no gateway has. */
  function findUnknown(query: string): string[] {
    const { metrics, grouped, matched } = readSelection(query);
    const labels = metrics.flatMap((metric) => labelsOf(metric) ?? []);
    return [
      ...metrics.filter((metric) => labelsOf(metric) === undefined),
      ...grouped.filter((label) => !labels.includes(label)),
      ...matched.flatMap(({ metric, label, values }) => {
        const isKnown = (value: string) => VALUES.some((known) => new RegExp(`^(?:${value})$`).test(known));
        const unknown = values.filter((value) => !isKnown(value)).map((value) => `${label}="${value}"`);
        return labelsOf(metric)?.includes(label) ? unknown : [`${metric}{${label}}`];
      }),
    ];
  }

  it('use only metrics, labels and values that the gateway has and docs/monitoring.md lists', () => {
    const queries = listQueries();
    expect(new Set(queries.flatMap(({ query }) => readSelection(query).metrics)).size).toBeGreaterThan(30);
    expect(queries.flatMap(({ name, query }) => findUnknown(query).map((unknown) => `${name}: ${unknown}`))).toEqual(
      [],
    );
  });

  it.each([
    ['rate(notigraph_operation_total[5m]) > 0', ['notigraph_operation_total']],
    ['http_requests_total == 0', ['http_requests_total']],
    ['sum by (namespace, tenant) (notigraph_connections) > 1', ['tenant']],
    ['notigraph_operations_total{tenant="acme"}', ['notigraph_operations_total{tenant}']],
    ['notigraph_operations_total{code=~"UPSTREAM_.*|UPSTREAM_TIMEDOUT"} offset 1d', ['code="UPSTREAM_TIMEDOUT"']],
    ['namespace_job:notigraph_failures:rate7m > 1', ['namespace_job:notigraph_failures:rate7m']],
  ])('%s would be noticed', (query, unknown) => {
    expect(findUnknown(query)).toEqual(unknown);
  });

  it.each(alerts)('$alert has the labels that its texts name', ({ expr, annotations }) => {
    const { metrics, grouped } = readSelection(expr);
    const labels = grouped.length > 0 ? grouped : metrics.flatMap((metric) => labelsOf(metric) ?? []);
    const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    expect(named.filter((label) => !labels.includes(label))).toEqual([]);
  });
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
