import { createHash } from 'node:crypto';

import type { Environment } from '../environments.ts';

export type Channel = 'in_app' | 'email' | 'sms' | 'chat' | 'push';

/** The sample records of one environment, without ids. */
export interface SampleEnvironment {
  environment: Environment;
  groups: readonly string[];
  feeds: readonly string[];
  workflows: readonly SampleWorkflow[];
  /** A deleted workflow. Only older statistics contain its id. */
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
  /** Channels that are enabled by default. @default all */
  preferred?: readonly Channel[];
  data?: Record<string, unknown>;
  traffic?: SampleTrafficPlan;
}

export interface SampleStep {
  name: string;
  type: Channel | 'digest' | 'delay';
  subject?: string;
  content?: string | readonly Record<string, unknown>[];
  /** Name of the in-app feed. */
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

/** Number of notifications per day, and the sets of channels they are sent over. */
export interface SampleTrafficPlan {
  weekday: number;
  weekend: number;
  /** Days of the week with notifications; 0 is Sunday. @default every day */
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

/** Returns the id of a sample record. It is the same in every file, and different in each environment. */
export function sampleId(environment: Environment, kind: string, ...path: (string | number)[]): string {
  return createHash('sha256')
    .update([environment.name, kind, ...path].join('/'))
    .digest('hex')
    .slice(0, 24);
}
