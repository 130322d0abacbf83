import type { Workflow } from './workflow.ts';

type Step = Workflow['steps'][number];

/** The steps of a workflow in order. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className="steps" aria-label="Steps">
      {steps.map((step, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the service may send no id, and the order does not change
        <li key={i} className={step.active === false ? 'step step-off' : 'step'}>
          <span className="step-kind">{kindOf(step)}</span>
          <span className="step-name">{step.name ?? step.template?.subject ?? 'Without a name'}</span>
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
function kindOf({ template, metadata }: Step): string {
  const type = template?.type ?? 'step';
  const kind = KINDS[type] ?? type;
  const { amount, unit } = metadata ?? {};
  return amount == null || unit == null || (type !== 'delay' && type !== 'digest')
    ? kind
    : `${kind} ${amount} ${amount === 1 ? unit.replace(/s$/, '') : unit}`;
}
