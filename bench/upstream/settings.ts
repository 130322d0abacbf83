import { GROUPS } from '../ids.ts';
import { WORKFLOW_BYTES } from './workflow-body.ts';

/** Settings of the canned upstream. */
export interface UpstreamSettings {
  /** Response time, in milliseconds. */
  latencyMs: number;
  /** Size of a workflow, in bytes. */
  workflowBytes: number;
  /** Number of notification groups. */
  groups: number;
}

/** Settings that apply unless a workload has others. */
export const DEFAULT_SETTINGS: UpstreamSettings = { latencyMs: 0, workflowBytes: WORKFLOW_BYTES, groups: GROUPS };

/** Message from the upstream to its parent process. */
export type UpstreamReport = { kind: 'listening'; url: string } | { kind: 'requests'; requests: number };
