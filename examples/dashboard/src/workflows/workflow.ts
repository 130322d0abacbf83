import type { WorkflowsResult } from '../documents.gen.ts';

export type Workflow = NonNullable<NonNullable<WorkflowsResult['workflows']>[number]>;
