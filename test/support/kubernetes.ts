// Finds mistakes in resources of Kubernetes.

import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';

/** Resource of Kubernetes, as read from YAML. */
export type Resource = Readonly<Record<string, unknown>>;

const MODELS = [
  ConfigMap,
  CronJob,
  Deployment,
  HTTPRoute,
  HorizontalPodAutoscaler,
  Ingress,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PrometheusRule,
  Service,
  ServiceAccount,
  ServiceMonitor,
];

/** Fields of the kinds without `spec`. */
const FIELDS = new Map<unknown, string[]>([
  [ConfigMap, ['data']],
  [ServiceAccount, ['automountServiceAccountToken']],
]);

/** Returns the problems of a resource: violations of its schema, and fields that the schema doesn't have. */
export function findResourceProblems(resource: Resource): string[] {
  const Model = MODELS.find(({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind);
  if (Model === undefined) {
    return [`no schema for ${resource.apiVersion} ${resource.kind}`];
  }
  const model = new Model();
  const read = new Set<unknown>();
  const fields = ['apiVersion', 'kind', 'metadata', ...(FIELDS.get(Model) ?? ['spec'])];
  for (const field of fields.filter((each) => each in resource)) {
    Object.assign(model, { [field]: observe(resource[field], field, read) });
  }
  try {
    model.validate();
  } catch (error) {
    return [String(error)];
  }
  // The schemas permit unknown fields, but only known ones are read by the validation.
  return [
    ...Object.keys(resource).filter((field) => !fields.includes(field)),
    ...fields.flatMap((field) => pathsOf(resource[field], field)).filter((path) => !read.has(path)),
  ].map((path) => `${resource.kind} has the unknown field ${path}`);
}

/** Returns a view of a value that adds the path of everything that is read. */
function observe(value: unknown, path: string, read: Set<unknown>): unknown {
  read.add(path);
  return typeof value !== 'object' || value === null
    ? value
    : new Proxy(value, {
        get: (target, key) => observe(Reflect.get(target, key), `${path}.${String(key)}`, read),
      });
}

/** Returns the paths of all fields and list items in a value. */
const pathsOf = (value: unknown, path: string): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) => [`${path}.${key}`, ...pathsOf(each, `${path}.${key}`)]);
