import { useOptimistic, useTransition } from 'react';
import { SwitchWorkflowDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useRefusal } from '../shell/view.tsx';
import { Switch } from '../ui/switch.tsx';
import { useIsActive, useKnownStates } from './known-states.ts';
import type { Workflow } from './workflow.ts';

/** Switches at once, and back with the reason if the service fails. */
export function WorkflowSwitch({ workflow, onReload }: { workflow: Workflow; onReload: () => void }) {
  const knownStates = useKnownStates();
  const active = useIsActive(workflow);
  const [shown, show] = useOptimistic(active);
  const [isPending, startTransition] = useTransition();
  const { run, failure } = useChange(SwitchWorkflowDocument, (data) => data.updateWorkflowStatus);
  const refusal = useRefusal('workflows:write');

  const mustLook = failure?.isUncertain || failure?.isGone;

  function flip() {
    startTransition(async () => {
      show(!active);
      if ((await run({ workflowId: workflow.id, active: !active })) === undefined) {
        knownStates.set(workflow.id, !active);
      }
    });
  }

  return (
    <>
      <Switch label={workflow.name} isOn={shown} isBusy={isPending} refusal={refusal} onFlip={flip} />
      {failure && (
        <div className="workflow-failure">
          <FailureNote
            failure={failure}
            retryLabel={mustLook ? 'Check again' : 'Try again'}
            onRetry={mustLook ? onReload : flip}
          />
        </div>
      )}
    </>
  );
}
