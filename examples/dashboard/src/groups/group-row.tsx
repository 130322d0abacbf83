import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useDrafts } from '../session/drafts-context.ts';
import { useWho } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { DeleteGroup } from './delete-group.tsx';
import type { Group } from './group.ts';
import { RenameGroup, renameForm } from './rename-group.tsx';

export interface GroupRowProps {
  group: Group;
  /** Reason why it can't be changed. */
  refusal: string | undefined;
  onDone: (message: string) => void;
  onDeleted: (name: string) => void;
  onReload: () => void;
}

/** A group in the list: its name, or the form to rename it. */
export function GroupRow({ group, refusal, onDone, onDeleted, onReload }: GroupRowProps) {
  const { id, name } = group;
  const { person } = useWho();
  const drafts = useDrafts();
  // A name that was typed before and not sent is still there.
  const [isRenaming, setIsRenaming] = useState(() => drafts.forms(person).includes(renameForm(name)));
  const [isDeleting, setIsDeleting] = useState(false);
  const renameButton = useRef<HTMLButtonElement>(null);
  const reason = refusal ?? (id === null ? 'The service sent no id for this group.' : undefined);

  function closeRename() {
    flushSync(() => setIsRenaming(false)); // The button is there again at once.
    renameButton.current?.focus();
  }

  return (
    <li className="row">
      {isRenaming && id !== null ? (
        <RenameGroup id={id} name={name} onDone={onDone} onClose={closeRename} onReload={onReload} />
      ) : (
        <>
          <span className="row-name">{name}</span>
          <span className="actions">
            <Button
              ref={renameButton}
              refusal={reason}
              onClick={() => setIsRenaming(true)}
              aria-label={`Rename ${name}`}
            >
              Rename
            </Button>
            <Button refusal={reason} onClick={() => setIsDeleting(true)} aria-label={`Delete ${name}`}>
              Delete
            </Button>
          </span>
        </>
      )}
      {isDeleting && id !== null && (
        <DeleteGroup
          id={id}
          name={name}
          onDeleted={onDeleted}
          onClose={() => setIsDeleting(false)}
          onReload={onReload}
        />
      )}
    </li>
  );
}
