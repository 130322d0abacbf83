import type { ReactNode } from 'react';

interface NoteProps {
  /** An error interrupts a screen reader, a success waits its turn, information is read where it stands. */
  kind: 'error' | 'success' | 'info';
  title?: string;
  children?: ReactNode;
}

const ROLES = { error: 'alert', success: 'status', info: undefined } as const;

/** A short text that stands out. */
export function Note({ kind, title, children }: NoteProps) {
  return (
    <div className={`note note-${kind}`} role={ROLES[kind]}>
      {title !== undefined && <p className="note-title">{title}</p>}
      {children}
    </div>
  );
}
