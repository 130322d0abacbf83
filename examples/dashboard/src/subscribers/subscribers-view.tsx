// Shows the form that adds subscribers, which the service can't list.

import { type FormEvent, useRef, useState } from 'react';
import { AddSubscriberDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { Permitted } from '../session/permitted.tsx';
import { useClearDraft, useDraft } from '../session/use-drafts.ts';
import { View } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { FIELDS, FORM, type Problems, problemsOf, readInput, type SubscriberFieldDefinition } from './fields.ts';

export function SubscribersView() {
  return (
    <View title="Subscribers" lead="Add a recipient of notifications. An existing id is updated.">
      <Permitted scope="subscribers:write" verb="add" what="subscribers">
        <AddSubscriber />
      </Permitted>
    </View>
  );
}

/** The form for a subscriber. */
function AddSubscriber() {
  const [problems, setProblems] = useState<Problems>({});
  const toast = useToast();
  const { run, isRunning, failure } = useChange(AddSubscriberDocument, (data) => data.createSubscriber);
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
    const outcome = await run((idempotencyKey) => ({ input: { ...input, idempotencyKey } }));
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

interface SubscriberFieldProps {
  field: SubscriberFieldDefinition;
  error: string | undefined;
}

/** One field of the form; its text is kept until it is sent. */
function SubscriberField({ field, error }: SubscriberFieldProps) {
  const { name, label, hint, type = 'text', isRequired = false } = field;
  const [value, setValue] = useDraft(FORM, name);
  return (
    <Field
      name={name}
      label={label}
      type={type}
      required={isRequired}
      value={value}
      error={error}
      {...(hint !== undefined && { hint })}
      onChange={(event) => setValue(event.target.value)}
    />
  );
}
