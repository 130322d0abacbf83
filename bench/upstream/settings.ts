import { GROUPS } from '../ids.ts';
import { WORKFLOW_BYTES } from './workflow-body.ts';

/** How the canned upstream behaves from now on. */
export interface UpstreamSettings {
  /** How long it takes to answer, in milliseconds. */
  latencyMs: number;
  /** The size of a workflow, in bytes. */
  workflowBytes: number;
  /** How many notification groups there are. */
  groups: number;
}

/** How it behaves unless a workload says otherwise. */
export const DEFAULT_SETTINGS: UpstreamSettings = { latencyMs: 0, workflowBytes: WORKFLOW_BYTES, groups: GROUPS };

/** What the upstream tells the process that started it. */
export type UpstreamReport = { kind: 'listening'; url: string } | { kind: 'requests'; requests: number };
