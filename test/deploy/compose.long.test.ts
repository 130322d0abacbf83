import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentOfImage, readKit } from '../support/deploy.ts';
import { load, ROOT } from '../support/docs.ts';

const { services } = parse(readKit('compose.yaml'));
const { gateway, prometheus, grafana } = services;

it('every file that is mounted exists', () => {
  const volumes: string[] = Object.values<{ volumes?: string[] }>(services).flatMap((service) => service.volumes ?? []);
  const paths = volumes.flatMap((volume) => /^\.\/[^:]+/.exec(volume) ?? []);
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(join(ROOT, 'deploy', path)))).toEqual([]);
  expect(existsSync(join(ROOT, 'deploy', gateway.build.context, gateway.build.dockerfile))).toBe(true);
});

it('its configuration is valid with the variables of the container, for the sandbox and for a service', () => {
  const text = readKit('compose/notigraph.config.yaml');
  const env = { ...environmentOfImage(), ...gateway.environment };
  expect(load(text, env)).toMatchObject({ sandbox: ':memory:' });
  const [, line = ''] = /replace this line by "(.*)"/.exec(text) ?? [];
  const withService = load(text.replace(/^sandbox: .*/m, line), env);
  expect(withService.sandbox).toBeUndefined();
  expect(withService.upstream).toBeDefined();
});

it('the gateway has time to finish in-flight requests', () => {
  const { drainDelayMs, drainTimeoutMs } = load("sandbox: ':memory:'");
  expect(Number.parseInt(gateway.stop_grace_period, 10)).toBeGreaterThan((drainDelayMs + drainTimeoutMs) / 1_000 + 5);
});

it('ports are open on this machine only, and the admin port is not open at all', () => {
  const ports: string[] = Object.values<{ ports?: string[] }>(services).flatMap((service) => service.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  expect(gateway.ports).toEqual([`127.0.0.1:4000:${environmentOfImage().NOTIGRAPH_PORT}`]);
});

it('Prometheus scrapes the admin port of the gateway, and Grafana finds Prometheus and the dashboard', () => {
  const [scrape] = parse(readKit('prometheus/prometheus.yml')).scrape_configs;
  const port = Number(environmentOfImage().NOTIGRAPH_ADMIN_PORT);
  expect(scrape).toEqual({ job_name: 'notigraph', dns_sd_configs: [{ names: ['gateway'], type: 'A', port }] });
  expect(prometheus.volumes.join()).toContain('./helm/alerts.yml:/etc/helm/alerts.yml');

  const [source] = parse(readKit('grafana/provisioning/datasources/prometheus.yaml')).datasources;
  expect(source.url).toBe('http://prometheus:9090');
  const [provider] = parse(readKit('grafana/provisioning/dashboards/notigraph.yaml')).providers;
  const mounted = `${provider.options.path}/notigraph.json`;
  expect(grafana.volumes).toContain(`./grafana/dashboard.json:${mounted}:ro`);
  expect(grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(mounted);
});
