// Shows the form that renames a group.

import { type FormEvent, useEffect, useRef, useState } from 'react';
import { RenameGroupDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useClearDraft, useDraft } from '../session/use-drafts.ts';
import { Button } from '../ui/button.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { cleanName, type NameProblem, problemOfName } from './group-name.ts';
import { GroupNameField } from './group-name-field.tsx';

interface RenameGroupProps {
  id: string;
  name: string;
  /** Names of the other groups. */
  taken: readonly string[];
  onClose: () => void;
  /** Reloads the list: the group may be renamed, or gone. */
  onReload: () => void;
}

/** Returns the form's name, for messages about unsent text. */
export const renameForm = (name: string): string => `New name of ${name}`;

/** The form for a new name, shown instead of the row. */
export function RenameGroup({ id, name, taken, onClose, onReload }: RenameGroupProps) {
  const [typed, setTyped] = useDraft(renameForm(name), 'name', name);
  const clearDraft = useClearDraft(renameForm(name));
  const [problem, setProblem] = useState<NameProblem>();
  const { run, isRunning, failure, dismiss } = useChange(RenameGroupDocument, (data) => data.updateNotificationGroup);
  const toast = useToast();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);

  async function rename(event: FormEvent) {
    event.preventDefault();
    dismiss();
    const found = problemOfName(typed, taken);
    const next = cleanName(typed);
    setProblem(found);
    if (found === undefined && next === name) {
      close();
    } else if (found === undefined) {
      if ((await run((idempotencyKey) => ({ id, name: next, idempotencyKey }))) === undefined) {
        toast(`“${name}” is now “${next}”.`);
        close();
        return;
      }
    }
    input.current?.focus();
  }

  function close() {
    clearDraft();
    onClose();
  }

  function change(next: string) {
    setTyped(next);
    setProblem(undefined);
    if (failure?.isTaken) {
      dismiss();
    }
  }

  return (
    <form
      className="row-form"
      noValidate
      onSubmit={rename}
      aria-label={`Rename ${name}`}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      {failure && (
        <FailureNote
          failure={failure}
          retryLabel="Reload the list"
          {...((failure.isUncertain || failure.isGone) && { onRetry: onReload })}
        />
      )}
      <div className="inline-form">
        <GroupNameField
          ref={input}
          label={renameForm(name)}
          value={typed}
          problem={problem}
          failure={failure}
          taken={taken}
          onChange={change}
        />
        <Button type="submit" kind="primary" isBusy={isRunning}>
          Save
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
    </form>
  );
}
