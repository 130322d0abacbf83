import type { WorkflowResult } from '../documents.gen.ts';

export type Workflow = NonNullable<WorkflowResult['workflow']>;
