import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { environmentOfImage, hasHelm, helmOnly, readKit, renderChart } from '../support/deploy.ts';
import { blocks, load, ROOT, read } from '../support/docs.ts';
import { findResourceProblems, type Resource } from '../support/kubernetes.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const VALUES = 'production/values.yaml';
const SERVICE = 'config.upstream=https://notifications.example.com';

const { drainDelayMs, drainTimeoutMs, maxBufferedBytes } = load("sandbox: ':memory:'");

/** Returns the only resource of a kind. */
function find(resources: readonly Resource[], kind: string) {
  const found = resources.filter((each) => each.kind === kind);
  expect(found).toHaveLength(1);
  return JSON.parse(JSON.stringify(found[0]));
}

it('there is one file of alerts', () => {
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /alerts[^/]*\.ya?ml$/.test(file) && !file.endsWith('.test.yml'))).toEqual([
    'helm/alerts.yml',
  ]);
});

describe.runIf(hasHelm)(`the chart${helmOnly}`, () => {
  /** The chart with nothing but a service. */
  let standard: readonly Resource[];
  beforeAll(() => {
    standard = renderChart([SERVICE]);
  });

  /** Returns the pod, and its only container. */
  function findPod(resources = standard) {
    const { spec } = find(resources, 'Deployment').spec.template;
    return { pod: spec, container: spec.containers[0] };
  }

  it('has the version of the package, and mounts its configuration', () => {
    const chart = parse(readKit('helm/Chart.yaml'));
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
    expect(standard.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ]);
    expect(standard.flatMap(findResourceProblems)).toEqual([]);
    const { data } = find(standard, 'ConfigMap');
    expect(data).toEqual({ 'notigraph.config.yaml': 'upstream: https://notifications.example.com\n' });
    expect(JSON.stringify(standard)).toContain('"configMap":{"name":"notigraph-config"}');
    expect(find(standard, 'Deployment').spec.replicas).toBe(2);
    expect(JSON.stringify(standard)).toContain(`"image":"ghcr.io/notigraph/notigraph:${manifest.version}"`);
  });

  it('serves the sandbox in one pod if that is asked for', () => {
    const rendered = renderChart(['sandbox=true']);
    const config = load(find(rendered, 'ConfigMap').data['notigraph.config.yaml'], environmentOfImage());
    expect(config).toMatchObject({ sandbox: ':memory:', graphiql: true });
    expect(find(rendered, 'Deployment').spec.replicas).toBe(1);
  });

  it('passes on names in quotes as they are, and names that Helm has read as something else as texts', async () => {
    await using folder = await createTemporaryFolder();
    const names = ['0042', '1e3', '12345678901234567', 'yes', 'null', '~', '2026-01-02', '0x1F'];
    const tenants = names.map((name) => `        "${name}": { env: KEY }\n`).join('');
    await writeFile(
      folder.path('values.yaml'),
      `config:
  upstream: https://notifications.example.com
  clients:
    browser:
      issuers: [{ issuer: a, audience: b, publicKey: { file: key.pem } }]
      tenants:
${tenants}        0077: { env: KEY }
`,
    );
    const { data } = find(renderChart([], [folder.path('values.yaml')]), 'ConfigMap');
    const { browser } = load(data['notigraph.config.yaml'], { KEY: 'key' }).clients;
    expect(Object.keys(browser?.tenants ?? {}).toSorted()).toEqual([...names, '63'].toSorted()); // YAML 1.1: an octal number.
  });

  it('notices an unknown field in a resource', () => {
    const changed = find(standard, 'Deployment');
    changed.spec.template.spec.containers[0].readinesProbe = {};
    expect(findResourceProblems(changed)).toEqual([
      'Deployment has the unknown field spec.template.spec.containers.0.readinesProbe',
    ]);
  });

  it('fulfills the Pod Security Standard "restricted" without a fixed user, and with a read-only root filesystem', () => {
    const { pod, container } = findPod();
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it('lets the process read secrets, whoever its user is', () => {
    const modesOf = (resources?: readonly Resource[]) =>
      new Set(
        findPod(resources).pod.volumes.flatMap(({ secret }: { secret?: { defaultMode: number } }) =>
          secret === undefined ? [] : [secret.defaultMode.toString(8)],
        ),
      );
    expect(modesOf()).toEqual(new Set(['444']));
    expect(modesOf(renderChart([SERVICE, 'podSecurityContext.fsGroup=65532']))).toEqual(new Set(['440']));
  });

  it('gets no variables for Services, which would replace those of the image', () => {
    const image = environmentOfImage();
    expect(load("sandbox: ':memory:'", image)).toMatchObject({ port: 4000, adminPort: 4001 });
    const withLinks = load("sandbox: ':memory:'", {
      ...image,
      NOTIGRAPH_PORT: 'tcp://10.0.0.1:80',
      NOTIGRAPH_ADMIN_PORT: 'tcp://10.0.0.2:80',
    });
    expect([withLinks.port, withLinks.adminPort]).toEqual([4000, undefined]);
    expect(findPod().pod.enableServiceLinks).toBe(false);
  });

  it('has the ports of the image, and is probed on the admin port', () => {
    const { NOTIGRAPH_PORT, NOTIGRAPH_ADMIN_PORT } = environmentOfImage();
    const { container } = findPod();
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(NOTIGRAPH_PORT) },
      { name: 'admin', containerPort: Number(NOTIGRAPH_ADMIN_PORT) },
    ]);
    for (const [probe, path] of Object.entries({ startup: '/readyz', liveness: '/livez', readiness: '/livez' })) {
      expect(container[`${probe}Probe`].httpGet).toEqual({ path, port: 'admin' });
    }
  });

  it('has memory for the heap, buffered bodies and Node.js, with the young generation of the image', () => {
    const semiSpace = Number(/^--max-semi-space-size=(\d+)$/.exec(environmentOfImage().NODE_OPTIONS ?? '')?.[1]);
    const limit = Number(/^(\d+)Mi$/.exec(findPod().container.resources.limits.memory)?.[1]);
    const buffered = maxBufferedBytes / 2 ** 20;
    // V8 takes half of the limit for its old generation, and three semi-spaces. docs/production.md names 80 MiB for Node.js itself.
    expect(limit / 2 + 3 * semiSpace + buffered + 80).toBeLessThan(limit);
    expect(readKit('compose.yaml')).toContain(`mem_limit: ${limit}m`);
    expect(read('docs/production.md')).toContain(`request 256 MiB, limit ${limit} MiB`);
  });

  it('has time to finish in-flight requests', () => {
    const { pod, container } = findPod();
    const seconds = container.lifecycle.preStop.sleep.seconds + (drainDelayMs + drainTimeoutMs) / 1_000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 5);
  });

  it('mounts secrets as folders, so that their files are updated', () => {
    const paths = Object.fromEntries(
      findPod().container.volumeMounts.map(({ mountPath, subPath }: Record<string, string>) => [mountPath, subPath]),
    );
    const text = readKit('production/notigraph.config.yaml');
    const used = [...text.matchAll(/(?:file|directory): (\/run\/secrets\/[\w-]+)/g)].map(([, path]) => path);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((path) => !(path !== undefined && path in paths))).toEqual([]);
    expect(Object.values(paths).filter(Boolean)).toEqual([]);
  });

  it('is valid with the values for production, and with every optional object', async () => {
    await using folder = await createTemporaryFolder();
    const [files = ''] = blocks(read('docs/production.md'), 'yaml').filter((each) => each.startsWith('volumes:'));
    await writeFile(folder.path('files.yaml'), files);
    const optional = ['ingress.enabled=true', 'auditVolume.enabled=true', 'podSecurityContext.fsGroup=65532'];
    const rendered = renderChart(optional, [`deploy/${VALUES}`, folder.path('files.yaml')]);
    expect(rendered.flatMap(findResourceProblems)).toEqual([]);
    expect(rendered.map(({ kind }) => String(kind)).toSorted()).toEqual([
      'Deployment',
      'HTTPRoute',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
      'PrometheusRule',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ]);
    const text = JSON.stringify(rendered);
    expect(text).not.toContain('"replicas"'); // The autoscaler decides.
    expect(text).toContain('"mountPath":"/run/secrets/files"');
    expect(text).toContain('"mountPath":"/var/log/notigraph","subPathExpr":"$(POD_NAME)"');
    expect(text).toContain('"claimName":"notigraph-audit"');
    expect(find(rendered, 'PrometheusRule').spec).toEqual(parse(readKit('helm/alerts.yml')));
    expect(find(rendered, 'NetworkPolicy').spec.egress).toHaveLength(4);
    for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
      expect(find(rendered, kind).metadata.labels.release).toBe('kube-prometheus-stack');
    }
  });

  it('uses a claim that exists for the audit log', () => {
    const rendered = renderChart([SERVICE, 'auditVolume.enabled=true', 'auditVolume.existingClaim=records']);
    expect(rendered.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
    expect(JSON.stringify(rendered)).toContain('"claimName":"records"');
  });

  it('has alerts for the name of its Service', () => {
    const { spec } = find(renderChart([SERVICE, 'name=messages', 'prometheus.enabled=true']), 'PrometheusRule');
    expect(JSON.stringify(spec)).toContain('up{job=\\"messages\\"}');
    expect(JSON.stringify(spec)).not.toContain('job=\\"notigraph\\"');
  });

  it('is valid with each commented case of the network policy', async () => {
    await using folder = await createTemporaryFolder();
    const values = readKit(VALUES);
    const [, ...cases] = values.split(/^ *# case: /m);
    expect(cases).toHaveLength(3);
    for (const each of cases) {
      const [, ...lines] = each.split('\n');
      const end = lines.findIndex((line) => !/^ {4}# [- ]/.test(line));
      const rule = lines.slice(0, end).map((line) => line.replace('# ', ''));
      await writeFile(folder.path('values.yaml'), values.replace('  egress:\n', `  egress:\n${rule.join('\n')}\n`));
      const policy = find(renderChart([], [folder.path('values.yaml')]), 'NetworkPolicy');
      expect(findResourceProblems(policy)).toEqual([]);
      expect(policy.spec.egress).toHaveLength(5);
    }
  });

  it.each<[values: string[], message: string]>([
    [[], 'There is no configuration. Set config, or existingConfigMap'],
    [['sandbox=false'], 'There is no configuration.'],
    [[SERVICE, 'sandbox=true'], 'Only one of config, existingConfigMap and sandbox can be used.'],
    [[SERVICE, 'existingConfigMap=mine'], 'Only one of config'],
    [['confg.upstream=https://notifications.example.com'], "additional properties 'confg' not allowed"],
    [['existingConfigMap=My_Config'], "at '/existingConfigMap'"],
    [['sandbox=on'], "at '/sandbox': got string, want boolean"],
    [[SERVICE, 'replicas=0'], "at '/replicas': minimum: got 0, want 1"],
    [[SERVICE, 'name=Notigraph'], "at '/name': 'Notigraph' does not match pattern"],
    [[SERVICE, 'image.digest=latest'], "at '/image/digest'"],
    [[SERVICE, 'secrets.tenantKeys='], "at '/secrets/tenantKeys'"],
    [[SERVICE, 'podLabels.team=a b'], "at '/podLabels/team'"],
    [[SERVICE, 'podLabels.-team=a'], "invalid propertyName '-team'"],
    [[SERVICE, 'podAnnotations.count=1'], "at '/podAnnotations/count': got number, want string"],
    [[SERVICE, 'resources.limits.memory=512MB'], "at '/resources/limits/memory'"],
    [[SERVICE, 'volumes[0].nam=x'], "missing property 'name'"],
    [[SERVICE, 'ingress.host=https://graphql.example.com'], "at '/ingress/host'"],
    [[SERVICE, 'networkPolicy.enabled=true'], 'without rules in both directions would cut off the pods'],
    [[SERVICE, 'auditVolume.size=much'], "at '/auditVolume/size'"],
  ])('rejects %j', (values, message) => {
    expect(() => renderChart(values)).toThrow(message);
  });

  it('has a schema that permits no unknown value at any level, but in free-form maps', () => {
    /** Returns the paths of objects that permit any member. */
    const listOpen = (schema: unknown, path: string): string[] => {
      if (typeof schema !== 'object' || schema === null) {
        return [];
      }
      const isOpen = 'type' in schema && schema.type === 'object' && !('additionalProperties' in schema);
      return [
        ...(isOpen ? [path] : []),
        ...Object.entries(schema).flatMap(([name, each]) => listOpen(each, `${path}/${name}`)),
      ];
    };
    const schema: unknown = JSON.parse(readKit('helm/values.schema.json'));
    const open = listOpen(schema, '').map((path) => path.replaceAll(/\/(?:properties|items)\b/g, ''));
    expect(open).toEqual([
      '/global',
      '/config',
      '/env/valueFrom',
      '/volumes',
      ...['nodeAffinity', 'podAffinity', 'podAntiAffinity'].map((name) => `/affinity/${name}`),
      '/networkPolicy/ingress/from',
      '/networkPolicy/egress/to',
    ]);
  });
});
