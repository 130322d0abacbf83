import { readdirSync, realpathSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import {
  deployToolsOnly,
  environmentOfImage,
  hasDeployTools,
  kustomize,
  readKit,
  renderChart,
} from '../support/deploy.ts';
import { blocks, load, ROOT, read } from '../support/docs.ts';
import { findResourceProblems, type Resource } from '../support/kubernetes.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const FOLDER = 'deploy/kubernetes';

const { drainDelayMs, drainTimeoutMs, maxBufferedBytes } = load("sandbox: ':memory:'");

const files = readdirSync(join(ROOT, FOLDER), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => join(FOLDER, file));
const kustomizations = files.filter((file) => basename(file) === 'kustomization.yaml');
const configurations = files.filter((file) => basename(file) === 'notigraph.config.yaml');
const resources = files.filter((file) => !kustomizations.includes(file) && !configurations.includes(file));

const deployment = parse(read(`${FOLDER}/base/deployment.yaml`));
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

it.each(resources)('%s follows the schema of its kind, without unknown fields', (file) => {
  expect(findResourceProblems(parse(read(file)))).toEqual([]);
});

it('an unknown field in a resource is noticed', () => {
  const changed = structuredClone(deployment);
  changed.spec.template.spec.containers[0].readinesProbe = {};
  expect(findResourceProblems(changed)).toEqual([
    'Deployment has the unknown field spec.template.spec.containers.0.readinesProbe',
  ]);
});

it.each(kustomizations)('%s uses every file of its folder', (file) => {
  const names = readdirSync(join(ROOT, file, '..')).filter((name) => name !== 'kustomization.yaml');
  expect(names.filter((name) => !read(file).includes(name))).toEqual([]);
});

it.each(configurations)('%s is a valid configuration', (file) => {
  const { upstream, sandbox } = load(read(file), environmentOfImage());
  expect(upstream ?? sandbox).toBeDefined();
});

describe('the pod', () => {
  it('fulfills the Pod Security Standard "restricted", and its root filesystem is read-only', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it('gets no variables for the Service, which would be read as settings', () => {
    expect(() => load('', { NOTIGRAPH_PORT: 'tcp://10.0.0.1:80', NOTIGRAPH_SERVICE_HOST: '10.0.0.1' })).toThrow();
    expect(pod.enableServiceLinks).toBe(false);
  });

  it('has the ports of the image, and is probed on the admin port', () => {
    const { NOTIGRAPH_PORT, NOTIGRAPH_ADMIN_PORT } = environmentOfImage();
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(NOTIGRAPH_PORT) },
      { name: 'admin', containerPort: Number(NOTIGRAPH_ADMIN_PORT) },
    ]);
    for (const [probe, path] of Object.entries({ startup: '/livez', liveness: '/livez', readiness: '/readyz' })) {
      expect(container[`${probe}Probe`].httpGet).toEqual({ path, port: 'admin' });
    }
  });

  it('has memory for the heap, buffered bodies and Node.js, with the young generation of the image', () => {
    const semiSpace = Number(/^--max-semi-space-size=(\d+)$/.exec(environmentOfImage().NODE_OPTIONS ?? '')?.[1]);
    const limit = Number(/^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1]);
    const buffered = maxBufferedBytes / 2 ** 20;
    // V8 takes half of the limit for its old generation, and three semi-spaces. docs/production.md names 80 MiB for Node.js itself.
    expect(limit / 2 + 3 * semiSpace + buffered + 80).toBeLessThan(limit);
    expect(readKit('compose.yaml')).toContain(`mem_limit: ${limit}m`);
    expect(read('docs/production.md')).toContain(`request 256 MiB, limit ${limit} MiB`);
  });

  it('has time to finish in-flight requests', () => {
    const seconds = container.lifecycle.preStop.sleep.seconds + (drainDelayMs + drainTimeoutMs) / 1_000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 5);
  });

  it('mounts secrets as folders, so that their files are updated', () => {
    const paths = Object.fromEntries(
      container.volumeMounts.map(({ mountPath, subPath }: Record<string, string>) => [mountPath, subPath]),
    );
    const text = configurations.map(read).join();
    const used = [...text.matchAll(/(?:file|directory): (\/run\/secrets\/[\w-]+)/g)].map(([, path]) => path);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((path) => !(path !== undefined && path in paths))).toEqual([]);
    expect(Object.values(paths).filter(Boolean)).toEqual([]);
  });
});

describe.runIf(hasDeployTools)(`kubectl builds${deployToolsOnly}`, () => {
  it.each(['sandbox', 'production'])('the overlay %s, and everything in it is valid', (overlay) => {
    const built = kustomize(`${FOLDER}/overlays/${overlay}`);
    expect(built.flatMap(findResourceProblems)).toEqual([]);
    expect(built.length).toBeGreaterThan(4);
    const named = (kind: string) => built.filter((each) => each.kind === kind);
    const text = JSON.stringify(named('Deployment'));
    expect(text).toMatch(/"configMap":\{"name":"notigraph-config-\w+"\}/);
    expect(text).toContain(`"image":"ghcr.io/notigraph/notigraph:${manifest.version}"`);
    expect(text.split(`"app.kubernetes.io/version":"${manifest.version}"`)).toHaveLength(3); // Deployment and pods.
    expect(text.includes('"replicas"')).toBe(named('HorizontalPodAutoscaler').length === 0);
  });

  it('every component together with the base, with the objects that it selects by name', async () => {
    await using folder = await createTemporaryFolder();
    const up = relative(realpathSync(folder.path()), join(ROOT, FOLDER));
    const components = readdirSync(join(ROOT, FOLDER, 'components')).map((name) => `${up}/components/${name}`);
    await writeFile(folder.path('kustomization.yaml'), stringify({ resources: [`${up}/base`], components }));
    const built = kustomize(folder.path());
    expect(built.flatMap(findResourceProblems)).toEqual([]);
    const text = JSON.stringify(built);
    expect(text).toContain('"subPathExpr":"$(POD_NAME)"');
    expect(text.split('"labels":{"release":"kube-prometheus-stack"}')).toHaveLength(3); // ServiceMonitor, PrometheusRule.
  });

  it("an overlay in an operator's own repository", async () => {
    const [overlay = ''] = blocks(read('docs/production.md'), 'yaml').filter((each) => each.includes('?ref='));
    await using folder = await createTemporaryFolder();
    // As it is but for the host: local folders have the names of the remote ones, with their "?ref=".
    for (const [, path = '', ref = ''] of overlay.matchAll(
      /\/\/github\.com\/[\w-]+\/notigraph\/\/(\S+?)(\?ref=[\w.]+)/g,
    )) {
      await mkdir(dirname(folder.path(path)), { recursive: true });
      await symlink(join(ROOT, path), folder.path(path + ref));
    }
    const local = overlay.replaceAll(/https:\/\/github\.com\/[\w-]+\/notigraph\/\//g, './');
    const [mount = ''] = blocks(read('docs/production.md'), 'yaml').filter((each) => each.startsWith('patches:'));
    await writeFile(folder.path('kustomization.yaml'), local + mount.replace('patches:\n', ''));
    await writeFile(folder.path('notigraph.config.yaml'), 'upstream: https://notifications.example.com\n');
    const built = kustomize(folder.path());
    expect(built.flatMap(findResourceProblems)).toEqual([]);
    expect(JSON.stringify(built)).toContain('upstream: https://notifications.example.com');
    expect(JSON.stringify(built)).toContain('"mountPath":"/run/secrets/files"');
  });

  it('the ConfigMap of the dashboard', () => {
    const [map] = kustomize('deploy/grafana');
    expect(map?.data).toEqual({ 'notigraph.json': readKit('grafana/dashboard.json') });
    expect(findResourceProblems(map ?? {})).toEqual([]);
  });
});

it('each commented case of the network policy is valid in its place', () => {
  const file = `${FOLDER}/components/network-policy/network-policy.yaml`;
  const [, ...cases] = read(file).split(/^ *# case: /m);
  expect(cases).toHaveLength(3);
  for (const each of cases) {
    const [, ...lines] = each.split('\n');
    const end = lines.findIndex((line) => !/^ {4}# [- ]/.test(line));
    const rule = lines.slice(0, end).map((line) => line.replace('# ', ''));
    const policy = parse(read(file).replace('  egress:\n', `  egress:\n${rule.join('\n')}\n`));
    expect(findResourceProblems(policy)).toEqual([]);
    expect(policy.spec.egress).toHaveLength(5);
  }
});

describe.runIf(hasDeployTools)(`the chart${deployToolsOnly}`, () => {
  /** Returns a resource without what Helm adds: labels about the chart, and a checksum in place of the hash in the name of the ConfigMap. */
  const withoutHelm = (resource: Resource): unknown =>
    JSON.parse(JSON.stringify(resource), (key, value) =>
      ['helm.sh/chart', 'app.kubernetes.io/managed-by', 'app.kubernetes.io/version', 'annotations'].includes(key)
        ? undefined
        : value,
    );
  const byName = (resources: readonly Resource[]) =>
    resources
      .map((resource): Record<string, unknown> => ({ ...resource }))
      .toSorted((a, b) => String(a.kind).localeCompare(String(b.kind)));

  it('has the same objects as the base, and a ConfigMap', () => {
    const expected = kustomize(`${FOLDER}/base`).map((resource) => {
      const labeled = JSON.parse(JSON.stringify(resource));
      labeled.metadata.labels = { 'app.kubernetes.io/name': 'notigraph' };
      return labeled;
    });
    const rendered = renderChart('image.repository=notigraph', 'image.digest=x', 'config.upstream=x').filter(
      ({ kind }) => kind !== 'ConfigMap',
    );
    const actual = JSON.parse(JSON.stringify(rendered.map(withoutHelm)).replace('notigraph@x', 'notigraph'));
    expect(byName(actual)).toEqual(byName(expected));
  });

  it('has the same objects as the components, all of them valid', () => {
    const enabled = ['autoscaling', 'httpRoute', 'ingress', 'networkPolicy', 'prometheus'];
    const policy = ['networkPolicy.egress[0].ports[0].port=443', 'networkPolicy.ingress[0].ports[0].port=http'];
    const rendered = renderChart(...enabled.map((name) => `${name}.enabled=true`), ...policy);
    expect(rendered.flatMap(findResourceProblems)).toEqual([]);
    const specOf = (kind: string) => rendered.find((resource) => resource.kind === kind)?.spec;
    for (const [kind, file] of [
      ['HTTPRoute', 'gateway-api/http-route.yaml'],
      ['Ingress', 'ingress/ingress.yaml'],
      ['HorizontalPodAutoscaler', 'autoscaling/autoscaler.yaml'],
      ['ServiceMonitor', 'prometheus/service-monitor.yaml'],
      ['PrometheusRule', 'prometheus/alerts.gen.yaml'],
    ] as const) {
      expect(specOf(kind)).toEqual(parse(read(`${FOLDER}/components/${file}`)).spec);
    }
    expect(JSON.stringify(rendered)).not.toContain('"replicas"');
  });

  it('has the version of the package, and mounts its configuration', () => {
    const chart = parse(readKit('helm/Chart.yaml'));
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
    const rendered = renderChart('config.upstream=https://notifications.example.com');
    const map = rendered.find(({ kind }) => kind === 'ConfigMap');
    expect(map?.data).toEqual({ 'notigraph.config.yaml': 'upstream: https://notifications.example.com\n' });
    expect(JSON.stringify(rendered)).toContain('"configMap":{"name":"notigraph-config"}');
  });
});
