// Reads the queries of the dashboard and of the alerts.

import { parse } from 'yaml';
import { z } from 'zod';
import { readKit } from '../support/deploy.ts';
import { names, read, rows } from '../support/docs.ts';

const Alert = z.object({
  alert: z.string(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

const Recording = z.object({ record: z.string(), expr: z.string() });

const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.union([Alert, Recording])) })) });

const Dashboard = z.object({
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })) }),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.string(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string() })).default([]),
    }),
  ),
});

/** Labels of the metrics that docs/monitoring.md lists. Names can have an asterisk. */
const LISTED = rows(read('docs/monitoring.md'), /^\| metric \| labels/m).map(([cell, labels]) => ({
  pattern: new RegExp(`^(?:${names(cell).join('|').replaceAll('*', '.*')})$`),
  labels: names(labels),
}));

/** Returns the labels that docs/monitoring.md lists for a metric; undefined if it doesn't list the metric. */
export function listedLabels(metric: string): string[] | undefined {
  const name = metric.replace(/_(?:bucket|sum|count)$/, '');
  const labels = LISTED.find(({ pattern }) => pattern.test(name))?.labels;
  const ofUpstream = /^notigraph_(?:upstream|circuit_breaker|cache_(?:reads|stale_seconds|invalidations))_/.test(name);
  return labels && [...labels, ...(ofUpstream ? ['upstream'] : []), ...(metric.endsWith('_bucket') ? ['le'] : [])];
}

/** Query of the dashboard or of an alert. */
export interface Query {
  /** Title of the panel or name of the alert, and which of its queries. */
  name: string;
  query: string;
}

/** Metrics that a query selects, its labels, and the values that they are compared with. */
export interface Selection {
  metrics: string[];
  /** Labels that it groups or joins by. */
  grouped: string[];
  matched: { metric: string; label: string; values: string[] }[];
}

/** Words that are no metrics, unless they are followed by a parenthesis, as functions are. */
const OPERATORS = ['and', 'or', 'unless', 'offset', 'bool', 'group_left'];

/** Reads a query. Recorded series are replaced by what they record. */
export function readSelection(query: string): Selection {
  const expand = (text: string): string =>
    text.replaceAll(/\b(\w+:\w+:\w+)(\{[^}]*\})?/g, (found, name: string, matchers = '') => {
      const expr = expand(RECORDED.get(name) ?? '');
      const [metric = found] = /notigraph_\w+/.exec(expr) ?? [];
      return expr === '' ? found : `(${expr} and ${metric}${matchers})`;
    });
  const matched: Selection['matched'] = [];
  const grouped: string[] = [];
  const words = expand(query)
    .replaceAll(/(\w+)\{((?:[^"}]|"[^"]*")*)\}/g, (_, metric: string, matchers: string) => {
      for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)\s*(?:=~?|!=|!~)\s*"([^"]*)"/g)) {
        matched.push({ metric, label, values: value.split('|') });
      }
      return metric;
    })
    .replaceAll(/"[^"]*"|\[[^\]]*\]|\boffset \w+|#.*$/gm, '')
    .replaceAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g, (_, labels: string) => {
      grouped.push(...(labels.match(/\w+/g) ?? []));
      return '';
    })
    .matchAll(/(?<![\w.:])([a-z_]\w*(?::\w+)*)(?!\w*\s*\()/gi);
  const metrics = [...words].map(([, name = '']) => name).filter((name) => !OPERATORS.includes(name));
  return { metrics: [...new Set(metrics)], grouped: [...new Set(grouped)], matched };
}

const RULES = Rules.parse(parse(readKit('helm/alerts.yml'))).groups.flatMap(({ rules }) => rules);

const RECORDED = new Map(RULES.flatMap((rule) => ('record' in rule ? [[rule.record, rule.expr]] : [])));

export const readAlerts = () => RULES.filter((rule) => 'alert' in rule);

/** @param text JSON of the dashboard */
export const readDashboard = (text = readKit('grafana/dashboard.json')) => Dashboard.parse(JSON.parse(text));

/** Returns a query of the dashboard with values in place of Grafana's variables. */
export const withValues = (expr: string): string =>
  expr.replaceAll(/\$(?:namespace|instance)/g, '.*').replaceAll('$__rate_interval', '1m');

/** Returns every query of the dashboard, of the alerts and of the recorded series. Grafana's variables have values. */
export function listQueries(): Query[] {
  const { panels, annotations } = readDashboard();
  const queries = [
    ...panels.flatMap(({ title, targets }) => targets.map(({ refId, expr }) => ({ name: `${title} ${refId}`, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ name: `annotation ${name}`, expr })),
    ...RULES.map((rule) => ({ name: 'alert' in rule ? rule.alert : rule.record, expr: rule.expr })),
  ];
  return queries.map(({ name, expr }) => ({ name, query: withValues(expr) }));
}
