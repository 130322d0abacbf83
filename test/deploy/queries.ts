// Reads the queries of the dashboard and of the alerts.

import { parse } from 'yaml';
import { z } from 'zod';
import { readKit } from '../support/deploy.ts';

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
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string() })).default([]),
    }),
  ),
});

/** Query of the dashboard or of an alert. */
export interface Query {
  /** Title of the panel or name of the alert, and which of its queries. */
  name: string;
  query: string;
}

const readRules = () => Rules.parse(parse(readKit('helm/alerts.yml'))).groups.flatMap(({ rules }) => rules);

export const readAlerts = () => readRules().filter((rule) => 'alert' in rule);

export const readDashboard = () => Dashboard.parse(JSON.parse(readKit('grafana/dashboard.json')));

/** Returns every query of the dashboard, of the alerts and of the recorded series. Grafana's variables have values. */
export function listQueries(): Query[] {
  const { panels, annotations } = readDashboard();
  const queries = [
    ...panels.flatMap(({ title, targets }) => targets.map(({ refId, expr }) => ({ name: `${title} ${refId}`, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ name: `annotation ${name}`, expr })),
    ...readRules().map((rule) => ({ name: 'alert' in rule ? rule.alert : rule.record, expr: rule.expr })),
  ];
  return queries.map(({ name, expr }) => ({
    name,
    query: expr.replaceAll(/\$(?:namespace|instance)/g, '.*').replaceAll('$__rate_interval', '1m'),
  }));
}
