import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { DeleteFeed, type OnFeedDeleted } from './delete-feed.tsx';
import type { KnownFeed } from './known-feeds.ts';

interface DeleteFeedFormProps {
  feeds: readonly KnownFeed[];
  onDeleted: OnFeedDeleted;
}

/** The form to delete a feed that this browser doesn't know. */
export function DeleteFeedForm({ feeds, onDeleted }: DeleteFeedFormProps) {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isAsking, setIsAsking] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = typed.trim();

  function ask(event: FormEvent) {
    event.preventDefault();
    setProblem(id === '' ? 'Enter the id of a feed.' : undefined);
    if (id === '') {
      input.current?.focus();
    } else {
      setIsAsking(true);
    }
  }

  return (
    <form className="card" noValidate onSubmit={ask} aria-label="Delete a feed">
      <div className="inline-form">
        <Field
          ref={input}
          label="Delete a feed by its id"
          value={typed}
          error={problem}
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" kind="delete">
          Delete…
        </Button>
      </div>
      {isAsking && (
        <DeleteFeed
          id={id}
          name={feeds.find((feed) => feed.id === id)?.name}
          onDeleted={(deleted, remaining) => {
            setTyped('');
            onDeleted(deleted, remaining);
          }}
          onClose={() => setIsAsking(false)}
        />
      )}
    </form>
  );
}
