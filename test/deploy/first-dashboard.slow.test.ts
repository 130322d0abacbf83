import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { hasHelm, helmOnly, renderChart } from '../support/chart.ts';
import { environmentOfImage } from '../support/deploy.ts';
import { blocks, ROOT, read } from '../support/docs.ts';
import { healthyService } from '../support/healthy-service.ts';
import { startNotigraph } from '../support/process.ts';
import { sendOperation } from '../support/send-operation.ts';
import { startService } from '../support/service.ts';
import { hasPrometheus, prometheusOnly, startPrometheus } from './prometheus.ts';
import { readDashboard, withValues } from './queries.ts';

/** Rows of the dashboard that have values as soon as there are operations; docs/monitoring.md says which others don't. */
const AT_ONCE = ['Overview', 'Traffic', 'Latency', 'Upstream', 'Saturation'];

it.runIf(hasPrometheus && hasHelm)(
  `what helm template prints leads to a dashboard and to an alert, also with another name${prometheusOnly}${helmOnly}`,
  async () => {
    await using service = await startService(healthyService);
    const rendered = renderChart([`config.upstream=${service.url}`, 'name=messages', 'prometheus.enabled=true']);
    const find = (kind: string) => JSON.parse(JSON.stringify(rendered.find((each) => each.kind === kind)));
    await using notigraph = await startNotigraph({
      env: {
        ...environmentOfImage(),
        NOTIGRAPH_CONFIG_TEXT: find('ConfigMap').data['notigraph.config.yaml'],
        NOTIGRAPH_HOST: '127.0.0.1',
        NOTIGRAPH_ADMIN_HOST: '127.0.0.1',
        NOTIGRAPH_ADMIN_PORT: '0',
      },
    });
    const [, admin = ''] = /http:\/\/(\S+)\/livez/.exec(notigraph.output()) ?? [];
    const { name: job } = find('Service').metadata;
    await using prometheus = await startPrometheus([{ targets: [admin], labels: { namespace: 'notigraph' } }], {
      divisor: 30,
      job,
      rules: stringify(find('PrometheusRule').spec),
    });

    const [rename = ''] = blocks(read('docs/monitoring.md'), 'sh');
    const dashboard = execFileSync('sh', ['-c', rename.replace(' > dashboard.json', '')], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const findEmpty = async () => {
      await sendOperation(notigraph.url, '{ notificationGroups { name } }');
      const empty: string[] = [];
      let row = '';
      for (const { type, title, targets } of readDashboard(dashboard).panels) {
        row = type === 'row' ? title : row;
        for (const { refId, expr } of AT_ONCE.includes(row) ? targets : []) {
          const values = await prometheus.query(withValues(expr));
          empty.push(...(values.every(Number.isNaN) ? [`${row}, ${title} ${refId}`] : []));
        }
      }
      return empty;
    };
    await expect.poll(findEmpty, { timeout: 60_000, interval: 500 }).toEqual([]);
    expect(await prometheus.firing('notigraph')).toEqual([]);

    await notigraph.stop('SIGTERM');
    await expect.poll(() => prometheus.firing('notigraph'), { timeout: 60_000 }).toContain('NotigraphDown');
  },
);
