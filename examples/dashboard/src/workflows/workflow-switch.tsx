// Shows the switch that enables or disables a workflow.

import { useOptimistic, useState, useTransition } from 'react';
import { SwitchWorkflowDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useRefusal } from '../session/permitted.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Switch } from '../ui/switch.tsx';
import { useIsActive, useKnownStates } from './known-states.ts';
import type { Workflow } from './workflow.ts';

/** Switches at once, and back with the reason if the service fails. Asks before a critical workflow is switched off. */
export function WorkflowSwitch({ workflow, onReload }: { workflow: Workflow; onReload: () => void }) {
  const { id, name, critical } = workflow;
  const knownStates = useKnownStates();
  const active = useIsActive(workflow);
  const [shown, show] = useOptimistic(active);
  const [isPending, startTransition] = useTransition();
  const [isAsking, setIsAsking] = useState(false);
  const { run, failure } = useChange(SwitchWorkflowDocument, (data) => data.updateWorkflowStatus);
  const refusal = useRefusal('workflows:write');

  const mustLook = failure?.isUncertain || failure?.isGone;

  function flip() {
    setIsAsking(false);
    startTransition(async () => {
      show(!active);
      if ((await run({ workflowId: id, active: !active })) === undefined) {
        knownStates.set(new Map(knownStates.get()).set(id, !active));
      }
    });
  }

  return (
    <>
      <Switch
        label={name}
        isOn={shown}
        isBusy={isPending}
        refusal={refusal}
        onFlip={active && critical ? () => setIsAsking(true) : flip}
      />
      {isAsking && (
        <ConfirmDialog
          title={`Disable “${name}”?`}
          action="Disable"
          onConfirm={flip}
          onClose={() => setIsAsking(false)}
        >
          <p>This workflow is critical: subscribers cannot opt out of it. While it is off, nobody gets its messages.</p>
        </ConfirmDialog>
      )}
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
