import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { createUpstreamSelector } from '../../src/http/pipeline/select-upstream.ts';
import { hasHelm, helmOnly, renderChart, renderChartInCluster } from '../support/chart.ts';
import { environmentOfImage, readKit } from '../support/deploy.ts';
import { blocks, load, ROOT, read } from '../support/docs.ts';
import { findResourceProblems, type Resource } from '../support/kubernetes.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startKubernetesApi } from './kubernetes-api.ts';

const VALUES = 'production/values.yaml';
const SERVICE = 'config.upstream=https://notifications.example.com';

/** Values that charts usually have. */
const USUAL_VALUES = `
terminationGracePeriodSeconds: 120
priorityClassName: important
image: { pullPolicy: Always }
labels: { team: a }
deploymentAnnotations: { reloader.example.com/auto: 'true' }
strategy: { rollingUpdate: { maxSurge: 50% } }
podDisruptionBudget: { maxUnavailable: 25% }
service: { type: LoadBalancer, annotations: { cloud.example.com/neg: '{}' } }
serviceAccount: { name: own, annotations: { iam.example.com/role: x } }
envFrom: [{ configMapRef: { name: more } }]
topologySpreadConstraints: [{ topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule }]
initContainers: [{ name: wait, image: busybox }]
extraContainers: [{ name: proxy, image: proxy }]
podSpec: { hostAliases: [{ ip: 10.0.0.1, hostnames: [host.example.com] }], dnsConfig: { options: [{ name: ndots, value: '1' }] } }
readinessProbe: { periodSeconds: 2 }
autoscaling:
  enabled: true
  metrics:
    - { type: Pods, pods: { metric: { name: operations }, target: { type: AverageValue, averageValue: '500' } } }
  behavior: { scaleDown: { stabilizationWindowSeconds: 60 } }
ingress: { enabled: true, hosts: [a.example.com, '*.b.example.com'] }
extraObjects: [{ apiVersion: v1, kind: Namespace, metadata: { name: further } }]
`;

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

  it('passes on settings that are off, which Helm has read as false', async () => {
    await using folder = await createTemporaryFolder();
    const config = `config:
  upstream: https://notifications.example.com
  proxy: off
  modules: off
  clients: { server: { trustedDocuments: off }, browser: off }
`;
    await writeFile(folder.path('values.yaml'), config);
    const { data } = find(renderChart([], [folder.path('values.yaml')]), 'ConfigMap');
    expect(data['notigraph.config.yaml']).not.toContain('off');
    const env = { HTTPS_PROXY: 'http://proxy.example.com:3128' };
    expect(load(data['notigraph.config.yaml'], env)).toMatchObject({
      proxy: 'off',
      modules: [],
      clients: { server: { trustedDocuments: 'off' } },
    });
    expect(load(data['notigraph.config.yaml'], env).clients).not.toHaveProperty('browser');
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

  const graceOf = (resources: readonly Resource[]) => findPod(resources).pod.terminationGracePeriodSeconds;

  it.each<[values: string, seconds: number]>([
    ['config: { drainDelayMs: 5000, drainTimeoutMs: 60500 }', 91],
    ['config: { drainTimeoutMs: 0 }', 25],
    ['{ config: { drainTimeoutMs: 0 }, terminationGracePeriodSeconds: 15 }', 15],
    ["{ config: { drainTimeoutMs: 60000 }, env: [{ name: NOTIGRAPH_DRAIN_DELAY_MS, value: '1000' }] }", 86],
    ['{ config: { drainTimeoutMs: { env: DRAIN } }, terminationGracePeriodSeconds: 300 }', 300],
    ['{ config: { drainTimeoutMs: 300000 }, terminationGracePeriodSeconds: 400 }', 400],
  ])('has a grace period for the drain timeouts of its configuration: %s', async (values, seconds) => {
    await using folder = await createTemporaryFolder();
    await writeFile(folder.path('values.yaml'), values);
    expect(graceOf(renderChart([SERVICE], [folder.path('values.yaml')]))).toBe(seconds);
  });

  /** Returns the paths that Ingress and HTTPRoute make public, which must be the same. */
  function pathsOf(resources: readonly Resource[]): string[] {
    const [rule] = find(resources, 'Ingress').spec.rules;
    const paths = rule.http.paths.map(({ path }: { path: string }) => path);
    const [{ matches }] = find(resources, 'HTTPRoute').spec.rules;
    expect(matches.map(({ path }: { path: { value: string } }) => path.value)).toEqual(paths);
    return paths;
  }
  const ROUTES = ['ingress.enabled=true', 'httpRoute.enabled=true'];

  it('makes the paths public at which its configuration serves', async () => {
    await using folder = await createTemporaryFolder();
    const text = [
      'endpoint: /api/graphql',
      'upstreams:',
      '  eu: { url: https://eu.example.com, pathPrefix: /eu }',
      '  us: { url: https://us.example.com, default: true }',
    ];
    await writeFile(folder.path('values.yaml'), ['config:', ...text.map((line) => `  ${line}`)].join('\n'));
    const { endpoint, upstreams } = load(text.join('\n'));
    const endpoints = [endpoint, '/client-tokens', '/mcp'];
    const { pathsOf: servedAt } = createUpstreamSelector(upstreams, endpoints);
    const paths = pathsOf(renderChart(ROUTES, [folder.path('values.yaml')]));
    expect(new Set(paths)).toEqual(new Set(endpoints.flatMap((each) => [...servedAt(each)])));
    expect(paths).toContain('/eu/api/graphql');
    expect(pathsOf(renderChart([...ROUTES, SERVICE, 'paths={/a,/b/c}']))).toEqual(['/a', '/b/c']);
    expect(pathsOf(renderChart([...ROUTES, SERVICE]))).toEqual(['/graphql', '/client-tokens', '/mcp']);
  });

  it('follows the settings of an existing ConfigMap that Helm can read', async () => {
    const config = 'upstream: https://notifications.example.com\nendpoint: /api/graphql\ndrainTimeoutMs: 60000\n';
    await using api = await startKubernetesApi('mine', { 'notigraph.config.yaml': config });
    const values = ['existingConfigMap=mine', 'ingress.enabled=true'];
    const rendered = await renderChartInCluster(values, api.url);
    expect(graceOf(rendered)).toBe(85);
    expect(JSON.stringify(find(rendered, 'Ingress'))).toContain('"path":"/api/graphql"');
    await expect(renderChartInCluster([...values, 'terminationGracePeriodSeconds=45'], api.url)).rejects.toThrow(
      'terminationGracePeriodSeconds is 45, so Kubernetes would end pods in the middle of requests. Set it to at least 75',
    );
    const unread = await renderChartInCluster(['existingConfigMap=other'], api.url);
    expect(graceOf(unread)).toBe(45);
  });

  it('has the values that operators usually need', async () => {
    await using folder = await createTemporaryFolder();
    await writeFile(folder.path('values.yaml'), USUAL_VALUES);
    const rendered = renderChart([SERVICE], [folder.path('values.yaml')]);
    expect(rendered.flatMap(findResourceProblems)).toEqual([]);
    const { pod, container } = findPod(rendered);
    expect(pod).toMatchObject({
      terminationGracePeriodSeconds: 120,
      priorityClassName: 'important',
      serviceAccountName: 'own',
      topologySpreadConstraints: [{ topologyKey: 'rack' }],
      initContainers: [{ name: 'wait' }],
      containers: [{ name: 'notigraph' }, { name: 'proxy' }],
      hostAliases: [{ ip: '10.0.0.1' }],
      dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
    });
    expect(container).toMatchObject({
      imagePullPolicy: 'Always',
      envFrom: [{}, { configMapRef: { name: 'more' } }],
      readinessProbe: { httpGet: { path: '/livez' }, periodSeconds: 2, timeoutSeconds: 3 },
    });
    expect(find(rendered, 'Deployment')).toMatchObject({
      metadata: { labels: { team: 'a' }, annotations: { 'reloader.example.com/auto': 'true' } },
      spec: { strategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } } },
    });
    expect(find(rendered, 'Service')).toMatchObject({
      metadata: { annotations: { 'cloud.example.com/neg': '{}' } },
      spec: { type: 'LoadBalancer' },
    });
    expect(find(rendered, 'ServiceAccount').metadata).toMatchObject({
      name: 'own',
      annotations: { 'iam.example.com/role': 'x' },
    });
    expect(find(rendered, 'HorizontalPodAutoscaler').spec).toMatchObject({
      metrics: [{ type: 'Resource' }, { type: 'Pods' }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 }, scaleUp: { stabilizationWindowSeconds: 0 } },
    });
    const { rules, tls } = find(rendered, 'Ingress').spec;
    expect(rules.map(({ host }: { host: string }) => host)).toEqual(['a.example.com', '*.b.example.com']);
    expect(tls).toEqual([{ hosts: ['a.example.com', '*.b.example.com'], secretName: 'notigraph-tls' }]);
    expect(find(rendered, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: '25%' });
    expect(find(rendered, 'Namespace').metadata.name).toBe('further');
    const own = renderChart([SERVICE, 'serviceAccount.create=false', 'serviceAccount.name=mine']);
    expect(own.map(({ kind }) => kind)).not.toContain('ServiceAccount');
    expect(findPod(own).pod.serviceAccountName).toBe('mine');
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
    [[SERVICE, 'config.upstraem=x'], "at '/config': additional properties 'upstraem' not allowed"],
    [[SERVICE, 'config.drainTimeoutMs=700000'], "at '/config/drainTimeoutMs': maximum: got 700,000, want 600,000"],
    [[SERVICE, 'config.clients.browser.scope={a}'], "additional properties 'scope' not allowed"],
    [[SERVICE, 'config.drainTimeoutMs=30000', 'terminationGracePeriodSeconds=40'], 'Set it to at least 45'],
    [
      [SERVICE, 'env[0].name=NOTIGRAPH_DRAIN_TIMEOUT_MS', 'env[0].valueFrom.fieldRef.fieldPath=x'],
      'set terminationGracePeriodSeconds',
    ],
    [[SERVICE, 'config.drainTimeoutMs.env=DRAIN'], 'set terminationGracePeriodSeconds to at least 15 s more than both'],
    [[SERVICE, 'config.endpoint.env=ENDPOINT', 'ingress.enabled=true'], "the chart can't read: set paths"],
    [[SERVICE, 'podSpec.containers={}'], "invalid propertyName 'containers'"],
    [[SERVICE, 'ingress.hosts={https://a}'], "at '/ingress/hosts/0'"],
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
      '/env/valueFrom',
      '/volumes',
      ...['nodeAffinity', 'podAffinity', 'podAntiAffinity'].map((name) => `/affinity/${name}`),
      ...['topologySpreadConstraints', 'initContainers', 'extraContainers', 'podSpec'].map((name) => `/${name}`),
      '/autoscaling/metrics',
      '/networkPolicy/ingress/from',
      '/networkPolicy/egress/to',
      '/extraObjects',
    ]);
  });
});
