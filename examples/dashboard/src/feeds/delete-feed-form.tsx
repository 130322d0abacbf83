import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useConfirmedText } from '../ui/use-confirmed-text.ts';
import { DeleteFeed, type OnFeedDeleted } from './delete-feed.tsx';
import type { KnownFeed } from './known-feeds.ts';

interface DeleteFeedFormProps {
  feeds: readonly KnownFeed[];
  onDeleted: OnFeedDeleted;
}

/** The form to delete a feed that this browser doesn't know. */
export function DeleteFeedForm({ feeds, onDeleted }: DeleteFeedFormProps) {
  const { text: id, field, isAsking, ask, close, clear } = useConfirmedText('Enter the id of a feed.');
  return (
    <form className="card" noValidate onSubmit={ask} aria-label="Delete a feed">
      <div className="inline-form">
        <Field {...field} label="Delete a feed by its id" autoCapitalize="off" spellCheck={false} />
        <Button type="submit" kind="delete">
          Delete…
        </Button>
      </div>
      {isAsking && (
        <DeleteFeed
          id={id}
          name={feeds.find((feed) => feed.id === id)?.name}
          onDeleted={(deleted, remaining) => {
            clear();
            onDeleted(deleted, remaining);
          }}
          onClose={close}
        />
      )}
    </form>
  );
}
