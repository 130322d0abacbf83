import { type FormEvent, useRef, useState } from 'react';
import { CreateGroupDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useIdempotencyKey } from '../failures/use-idempotency-key.ts';
import { useDraft } from '../session/drafts-context.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { problemOfName } from './group.ts';

interface CreateGroupProps {
  /** Reason why it is not allowed. */
  refusal: string | undefined;
  onDone: (message: string) => void;
  /** Reloads the list: the group may exist although there was no response. */
  onReload: () => void;
}

/** The form for a new group. */
export function CreateGroup({ refusal, onDone, onReload }: CreateGroupProps) {
  const [name, setName] = useDraft('New group', 'name');
  const [problem, setProblem] = useState<string>();
  const { run, isRunning, failure } = useChange(CreateGroupDocument, (data) => data.createNotificationGroup);
  const idempotency = useIdempotencyKey();
  const input = useRef<HTMLInputElement>(null);

  async function create(event: FormEvent) {
    event.preventDefault();
    const found = problemOfName(name);
    setProblem(found);
    if (found !== undefined) {
      input.current?.focus();
      return;
    }
    const outcome = await run({ name, idempotencyKey: idempotency.keyFor(name) });
    idempotency.settle(outcome);
    if (outcome === undefined) {
      setName('');
      onDone(`“${name}” was created.`);
    }
    input.current?.focus();
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
        <Field
          ref={input}
          label="New group"
          required
          value={name}
          disabled={refusal !== undefined}
          error={problem ?? failure?.fields.name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" kind="primary" isBusy={isRunning} refusal={refusal}>
          Create
        </Button>
      </div>
    </form>
  );
}
