import { GROUPS } from '../ids.ts';
import { WORKFLOW_BYTES } from './bodies.ts';

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
