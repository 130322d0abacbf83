import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readKit } from '../support/deploy.ts';
import { blocks, read } from '../support/docs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { hasPromtool, promtool, promtoolOnly } from './promtool.ts';

it.runIf(hasPromtool).each([
  ['rules', '../helm/alerts.yml'],
  ['config', 'prometheus.yml'],
])(`promtool check %s %s${promtoolOnly}`, (...args) => {
  expect(promtool('check', ...args)).toBe('');
});

it.runIf(hasPromtool)(
  `the configuration of docs/monitoring.md is valid, with the name of the job${promtoolOnly}`,
  async () => {
    await using folder = await createTemporaryFolder();
    const [config = ''] = blocks(read('docs/monitoring.md'), 'yaml');
    await writeFile(folder.path('prometheus.yml'), config);
    await writeFile(folder.path('alerts.yml'), readKit('helm/alerts.yml'));
    expect(promtool('check', 'config', folder.path('prometheus.yml'))).toBe('');
    const [own, kit] = [config, readKit('prometheus/prometheus.yml')].map((text) => parse(text).scrape_configs[0]);
    expect(own.job_name).toBe(kit.job_name);
  },
);

it.runIf(hasPromtool)(
  `the optional alert of docs/production.md fires after an hour without operations${promtoolOnly}`,
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
    expect(promtool('test', 'rules', folder.path('test.yml'))).toBe('');
  },
);
