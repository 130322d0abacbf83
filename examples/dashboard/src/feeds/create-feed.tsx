// Shows the form for a new feed.

import { type FormEvent, useRef, useState } from 'react';
import { CreateFeedDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useDraft } from '../session/use-drafts.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { FEEDS_CHANGE } from './feed.ts';

interface CreateFeedProps {
  /** Reason why it is not allowed. */
  refusal: string | undefined;
  /** Reloads the list: the feed may exist although there was no response. */
  onReload: () => void;
}

export function CreateFeed({ refusal, onReload }: CreateFeedProps) {
  const [typed, setTyped] = useDraft('New feed', 'name');
  const [problem, setProblem] = useState<string>();
  const { run, isRunning, failure } = useChange(CreateFeedDocument, (data) => data.createFeed);
  const toast = useToast();
  const input = useRef<HTMLInputElement>(null);

  async function create(event: FormEvent) {
    event.preventDefault();
    const name = typed.trim();
    setProblem(name === '' ? 'Enter a name.' : undefined);
    if (name !== '' && (await run((idempotencyKey) => ({ name, idempotencyKey }), FEEDS_CHANGE)) === undefined) {
      setTyped('');
      toast(`“${name}” was created.`);
    }
    input.current?.focus();
  }

  return (
    <form className="card" noValidate onSubmit={create} aria-label="New feed">
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
          label="New feed"
          required
          disabled={refusal !== undefined}
          value={typed}
          error={problem ?? failure?.fields.name}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" kind="primary" isBusy={isRunning} refusal={refusal}>
          Create
        </Button>
      </div>
    </form>
  );
}
