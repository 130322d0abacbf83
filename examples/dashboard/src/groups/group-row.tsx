// Shows a group in the list: its name, or the form to rename it.

import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useApp } from '../app-context.ts';
import { unsentForms } from '../session/drafts.ts';
import { useWho } from '../session/who-context.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { DeleteGroup } from './delete-group.tsx';
import type { Group } from './group.ts';
import { RenameGroup, renameForm } from './rename-group.tsx';

export interface GroupRowProps {
  group: Group;
  /** The number of its known workflows, if it is known. */
  count: number | undefined;
  /** Names of the other groups. */
  taken: readonly string[];
  /** Reason why it can't be changed. */
  refusal: string | undefined;
  onDeleted: (name: string) => void;
  onReload: () => void;
}

export function GroupRow({ group, count, taken, refusal, onDeleted, onReload }: GroupRowProps) {
  const { id, name } = group;
  const { person } = useWho();
  const { drafts } = useApp();
  // A name that was typed before and not sent is still there.
  const [isRenaming, setIsRenaming] = useState(() => unsentForms(drafts.get(), person).includes(renameForm(name)));
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
        <RenameGroup id={id} name={name} taken={taken} onClose={closeRename} onReload={onReload} />
      ) : (
        <>
          <span className="row-text">
            <span className="row-name">{name}</span>
            <span className="row-note">{count !== undefined && formatCount(count)}</span>
          </span>
          <span className="actions">
            <Button
              ref={renameButton}
              refusal={reason}
              onClick={() => setIsRenaming(true)}
              aria-label={`Rename ${name}`}
            >
              Rename
            </Button>
            <Button kind="delete" refusal={reason} onClick={() => setIsDeleting(true)} aria-label={`Delete ${name}`}>
              <Icon name="delete" />
              Delete
            </Button>
          </span>
        </>
      )}
      {isDeleting && id !== null && (
        <DeleteGroup
          id={id}
          name={name}
          count={count}
          onDeleted={onDeleted}
          onClose={() => setIsDeleting(false)}
          onReload={onReload}
        />
      )}
    </li>
  );
}

const formatCount = (count: number) =>
  count === 0 ? 'No workflows' : `${count} ${count === 1 ? 'workflow' : 'workflows'}`;
