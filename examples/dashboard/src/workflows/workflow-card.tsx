// Shows a workflow with its description, group, steps and switch.

import type { Workflow } from './workflow.ts';
import { WorkflowSwitch } from './workflow-switch.tsx';

export function WorkflowCard({ workflow, onReload }: { workflow: Workflow; onReload: () => void }) {
  const { name, description, critical, notificationGroup, steps } = workflow;
  return (
    <article className="card workflow">
      <div className="workflow-text">
        <h3 className="workflow-name">{name}</h3>
        <p className="tags">
          <span className="tag">{notificationGroup?.name ?? 'No group'}</span>
          {critical && <span className="tag tag-critical">Critical</span>}
        </p>
      </div>
      <WorkflowSwitch workflow={workflow} onReload={onReload} />
      {description !== null && <p className="workflow-description">{description}</p>}
      <Steps steps={steps} />
    </article>
  );
}

type Step = Workflow['steps'][number];

/** The steps of a workflow in order. */
function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="steps" aria-label="Steps">
      {steps.map((step, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the service may send no id, and the order does not change
        <li key={i} className={step.active === false ? 'step step-off' : 'step'}>
          <span className="step-kind">{kindOf(step)}</span>
          <span className="step-name">{step.name ?? 'Without a name'}</span>
          {step.active === false && <span className="muted"> (off)</span>}
        </li>
      ))}
    </ol>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  in_app: 'In-app',
  email: 'Email',
  sms: 'SMS',
  chat: 'Chat',
  push: 'Push',
  delay: 'Wait',
  digest: 'Collect',
};

/** Returns `Wait 2 days` or `Email`, or the service's own name of an unknown step. */
function kindOf({ type: sent, metadata }: Step): string {
  const type = sent ?? 'step';
  const kind = KINDS[type] ?? type;
  const { amount, unit } = metadata ?? {};
  return amount == null || unit == null || (type !== 'delay' && type !== 'digest')
    ? kind
    : `${kind} ${amount} ${amount === 1 ? unit.replace(/s$/, '') : unit}`;
}
