// Shows the form for a new group.

import { type FormEvent, useRef, useState } from 'react';
import { CreateGroupDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useDraft } from '../session/use-drafts.ts';
import { Button } from '../ui/button.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { cleanName, type NameProblem, problemOfName } from './group-name.ts';
import { GroupNameField } from './group-name-field.tsx';

interface CreateGroupProps {
  /** Names of the groups. */
  taken: readonly string[];
  /** Reason why it is not allowed. */
  refusal: string | undefined;
  /** Reloads the list: the group may exist although there was no response. */
  onReload: () => void;
}

export function CreateGroup({ taken, refusal, onReload }: CreateGroupProps) {
  const [typed, setTyped] = useDraft('New group', 'name');
  const [problem, setProblem] = useState<NameProblem>();
  const { run, isRunning, failure, dismiss } = useChange(CreateGroupDocument, (data) => data.createNotificationGroup);
  const toast = useToast();
  const input = useRef<HTMLInputElement>(null);

  async function create(event: FormEvent) {
    event.preventDefault();
    dismiss();
    const found = problemOfName(typed, taken);
    setProblem(found);
    if (found === undefined) {
      const name = cleanName(typed);
      if ((await run((idempotencyKey) => ({ name, idempotencyKey }))) === undefined) {
        setTyped('');
        toast(`“${name}” was created.`);
      }
    }
    input.current?.focus();
  }

  function change(name: string) {
    setTyped(name);
    setProblem(undefined);
    if (failure?.isTaken) {
      dismiss();
    }
  }

  return (
    <form className="card" noValidate onSubmit={create} aria-label="New group">
      {failure && (
        <FailureNote
          failure={failure}
          retryLabel="Reload the list"
          {...(failure.isUncertain && { onRetry: onReload })}
        />
      )}
      <div className="inline-form">
        <GroupNameField
          ref={input}
          label="New group"
          value={typed}
          isDisabled={refusal !== undefined}
          problem={problem}
          failure={failure}
          taken={taken}
          onChange={change}
        />
        <Button type="submit" kind="primary" isBusy={isRunning} refusal={refusal}>
          Create
        </Button>
      </div>
    </form>
  );
}
