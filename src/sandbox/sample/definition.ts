import { createHash } from 'node:crypto';

import type { Environment } from '../environments.ts';

export type Channel = 'in_app' | 'email' | 'sms' | 'chat' | 'push';

/** What a product team would set up: the records of one environment, written down without ids. */
export interface SampleEnvironment {
  environment: Environment;
  groups: readonly string[];
  feeds: readonly string[];
  workflows: readonly SampleWorkflow[];
  /** A workflow that was deleted: its id is left in older statistics only. */
  retired: { identifier: string; traffic: SampleTrafficPlan };
  subscribers: readonly SampleSubscriber[];
  transactions: readonly SampleTransaction[];
}

export interface SampleWorkflow {
  identifier: string;
  name: string;
  description?: string;
  group: string;
  tags: readonly string[];
  active: boolean;
  critical: boolean;
  createdAt: string;
  updatedAt: string;
  steps: readonly SampleStep[];
  /** The channels on which subscribers receive it by default; all when absent. */
  preferred?: readonly Channel[];
  data?: Record<string, unknown>;
  traffic?: SampleTrafficPlan;
}

export interface SampleStep {
  name: string;
  type: Channel | 'digest' | 'delay';
  subject?: string;
  content?: string | readonly Record<string, unknown>[];
  /** Name of the in-app feed that the message goes to. */
  feed?: string;
  metadata?: Record<string, unknown>;
  filters?: readonly SampleFilter[];
  shouldStopOnFail?: boolean;
  replyCallback?: Record<string, unknown>;
}

export interface SampleFilter {
  value: 'AND' | 'OR';
  children: readonly { field: string; value: string; operator: string; on: string }[];
}

/** How often a workflow is triggered, and the sets of channels its messages then go out on. */
export interface SampleTrafficPlan {
  weekday: number;
  weekend: number;
  /** The only days of the week it runs on, 0 is Sunday; every day when absent. */
  weekDays?: readonly number[];
  routes: readonly (readonly Channel[])[];
}

export interface SampleSubscriber {
  subscriberId: string;
  firstName: string;
  lastName: string;
  email: string;
  phone?: string;
  avatar?: string;
  locale: string;
  data?: Record<string, unknown>;
  channels?: readonly Record<string, unknown>[];
  createdAt: string;
}

/** A transaction with a fixed id, for examples. */
export interface SampleTransaction {
  transactionId: string;
  workflow: string;
  subscriberId: string;
  channels: readonly Channel[];
}

/** The id of a sample record: the same in every new file, different in each environment. */
export function sampleId(environment: Environment, kind: string, ...path: (string | number)[]): string {
  return createHash('sha256')
    .update([environment.name, kind, ...path].join('/'))
    .digest('hex')
    .slice(0, 24);
}
