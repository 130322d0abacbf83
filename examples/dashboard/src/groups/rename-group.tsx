import { type FormEvent, useEffect, useRef, useState } from 'react';
import { RenameGroupDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useIdempotencyKey } from '../failures/use-idempotency-key.ts';
import { useClearDraft, useDraft } from '../session/drafts-context.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { problemOfName } from './group.ts';

interface RenameGroupProps {
  id: string;
  name: string;
  onDone: (message: string) => void;
  onClose: () => void;
  /** Reloads the list: the group may be renamed, or gone. */
  onReload: () => void;
}

/** Returns the form's name, for messages about unsent text. */
export const renameForm = (name: string): string => `New name of ${name}`;

/** The form for a new name, shown instead of the row. */
export function RenameGroup({ id, name, onDone, onClose, onReload }: RenameGroupProps) {
  const [next, setNext] = useDraft(renameForm(name), 'name', name);
  const clearDraft = useClearDraft(renameForm(name));
  const [problem, setProblem] = useState<string>();
  const { run, isRunning, failure } = useChange(RenameGroupDocument, (data) => data.updateNotificationGroup);
  const idempotency = useIdempotencyKey();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);

  async function rename(event: FormEvent) {
    event.preventDefault();
    const found = problemOfName(next);
    setProblem(found);
    if (found !== undefined) {
      input.current?.focus();
      return;
    }
    if (next !== name) {
      const outcome = await run({ id, name: next, idempotencyKey: idempotency.keyFor(next) });
      idempotency.settle(outcome);
      if (outcome !== undefined) {
        input.current?.focus();
        return;
      }
      onDone(`“${name}” is now “${next}”.`);
    }
    close();
  }

  function close() {
    clearDraft();
    onClose();
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
        <Field
          ref={input}
          label={renameForm(name)}
          required
          value={next}
          error={problem ?? failure?.fields.name}
          onChange={(event) => setNext(event.target.value)}
        />
        <Button type="submit" kind="primary" isBusy={isRunning}>
          Save
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
    </form>
  );
}
