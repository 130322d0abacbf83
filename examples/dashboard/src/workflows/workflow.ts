// Defines the type of listed workflows, and reduces complete ones to it.

import type { WorkflowPageResult, WorkflowResult } from '../documents.gen.ts';

type Listed = NonNullable<NonNullable<WorkflowPageResult['workflowPage']>['workflows'][number]>;

/** A workflow as the list has it: without the content of its steps. */
export type Workflow = Omit<Listed, '__typename' | 'steps'> & {
  steps: readonly Omit<Listed['steps'][number], '__typename'>[];
};

/** Returns the part of a complete workflow that the list has. */
export const summarize = ({ steps, ...workflow }: NonNullable<WorkflowResult['workflow']>): Workflow => ({
  ...workflow,
  steps: steps.map(({ template, ...step }) => ({
    ...step,
    name: step.name ?? template?.subject ?? null,
    type: template?.type ?? null,
  })),
});
