// Imitates the API of a Kubernetes cluster, as far as Helm reads it.

import { once } from 'node:events';
import { createServer } from 'node:http';

/** Kinds of the chart's resources, by their API. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  v1: ['ConfigMap', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment'],
  'networking.k8s.io/v1': ['Ingress'],
  'policy/v1': ['PodDisruptionBudget'],
};

const resourcesOf = (groupVersion: string) => ({
  kind: 'APIResourceList',
  groupVersion,
  resources: KINDS[groupVersion]?.map((kind) => ({
    name: `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`,
    singularName: kind.toLowerCase(),
    namespaced: true,
    kind,
    verbs: ['get'],
  })),
});

/** Starts what Helm needs of a cluster's API to render a chart: its kinds, and one ConfigMap in the namespace `default`. */
export async function startKubernetesApi(name: string, data: Readonly<Record<string, string>>) {
  const groups = Object.keys(KINDS).filter((api) => api !== 'v1');
  const responses: Record<string, unknown> = {
    '/version': { major: '1', minor: '31', gitVersion: 'v1.31.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: groups.map((groupVersion) => {
        const [group = '', version = ''] = groupVersion.split('/');
        return { name: group, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      }),
    },
    '/api/v1': resourcesOf('v1'),
    ...Object.fromEntries(groups.map((api) => [`/apis/${api}`, resourcesOf(api)])),
    [`/api/v1/namespaces/default/configmaps/${name}`]: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data,
    },
  };
  const server = createServer((request, response) => {
    const found = responses[request.url?.split('?', 1)[0] ?? ''];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
