import { Steps } from './steps.tsx';
import type { Workflow } from './workflow.ts';
import { WorkflowSwitch } from './workflow-switch.tsx';

/** A workflow with its description, group, steps and switch. */
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
