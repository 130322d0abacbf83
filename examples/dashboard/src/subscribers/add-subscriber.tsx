import { type FormEvent, useRef, useState } from 'react';
import { AddSubscriberDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useIdempotencyKey } from '../failures/use-idempotency-key.ts';
import { useClearDraft } from '../session/drafts-context.ts';
import { Button } from '../ui/button.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { FIELDS, FORM, type Problems, problemsOf, readInput } from './fields.ts';
import { SubscriberField } from './subscriber-field.tsx';

/** The form for a subscriber. */
export function AddSubscriber() {
  const [problems, setProblems] = useState<Problems>({});
  const toast = useToast();
  const { run, isRunning, failure } = useChange(AddSubscriberDocument, (data) => data.createSubscriber);
  const idempotency = useIdempotencyKey();
  const clearDraft = useClearDraft(FORM);
  const form = useRef<HTMLFormElement>(null);

  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const input = readInput(new FormData(event.currentTarget));
    const found = problemsOf(input);
    setProblems(found);
    if (Object.keys(found).length > 0) {
      focusField(Object.keys(found)[0]);
      return;
    }
    const idempotencyKey = idempotency.keyFor(JSON.stringify(input));
    const outcome = await run({ input: { ...input, idempotencyKey } });
    idempotency.settle(outcome);
    if (outcome === undefined) {
      clearDraft();
      toast(`The subscriber “${input.subscriberId}” was saved.`);
    }
    focusField(Object.keys(outcome?.fields ?? {})[0] ?? 'subscriberId');
  }

  function focusField(name = '') {
    const field = form.current?.elements.namedItem(name);
    if (field instanceof HTMLElement) {
      field.focus();
    }
  }

  return (
    <form className="card" ref={form} noValidate onSubmit={add} aria-labelledby="form-title">
      <h2 id="form-title">{FORM}</h2>
      {failure && <FailureNote failure={failure} />}
      <div className="form-grid">
        {FIELDS.map((field) => (
          <SubscriberField key={field.name} field={field} error={problems[field.name] ?? failure?.fields[field.name]} />
        ))}
      </div>
      <Button type="submit" kind="primary" isBusy={isRunning}>
        Save subscriber
      </Button>
    </form>
  );
}
