import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isRecord } from '../../src/lib/is-record.ts';
import { environmentOfImage, readKit } from '../support/deploy.ts';
import { load, ROOT, read } from '../support/docs.ts';
import { findResourceProblems, type Resource } from '../support/kubernetes.ts';

const FOLDER = 'deploy/kubernetes';

const { lameDuckMs, drainTimeoutMs, maxBufferedBytes } = load("sandbox: ':memory:'");

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
    const seconds = container.lifecycle.preStop.sleep.seconds + (2 * lameDuckMs + drainTimeoutMs) / 1_000;
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

/** Whether there is a kubectl whose Kustomize knows components. No package of Debian has one, so CI can't require it. */
function canBuild(): boolean {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  return /"kustomizeVersion": "v[5-9]/.test(stdout ?? '');
}

const describeBuilds = canBuild() ? describe : () => {};

describeBuilds('kubectl builds', () => {
  const build = (folder: string): Resource[] =>
    parseAllDocuments(execFileSync('kubectl', ['kustomize', join(ROOT, folder)], { encoding: 'utf8' }))
      .map((document) => document.toJS())
      .filter(isRecord);

  it.each(['sandbox', 'production'])('the overlay %s, and everything in it is valid', (overlay) => {
    const built = build(`${FOLDER}/overlays/${overlay}`);
    expect(built.flatMap(findResourceProblems)).toEqual([]);
    expect(built.length).toBeGreaterThan(4);
    const named = (kind: string) => built.filter((each) => each.kind === kind);
    const text = JSON.stringify(named('Deployment'));
    expect(text).toMatch(/"configMap":\{"name":"notigraph-config-\w+"\}/);
    expect(text).toContain('"image":"registry.example.com/notigraph:0.1.0"');
    expect(text.includes('"replicas"')).toBe(named('HorizontalPodAutoscaler').length === 0);
  });

  it('the ConfigMap of the dashboard', () => {
    const [map] = build('deploy/grafana');
    expect(map?.data).toEqual({ 'notigraph.json': readKit('grafana/dashboard.json') });
    expect(findResourceProblems(map ?? {})).toEqual([]);
  });
});
