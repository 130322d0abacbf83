// Shows a short text that stands out.

import type { ReactNode } from 'react';

interface NoteProps {
  /** An error interrupts a screen reader; information is read where it stands. */
  kind: 'error' | 'info';
  title?: string;
  children?: ReactNode;
}

export function Note({ kind, title, children }: NoteProps) {
  return (
    <div className={`note note-${kind}`} role={kind === 'error' ? 'alert' : undefined}>
      {title !== undefined && <p className="note-title">{title}</p>}
      {children}
    </div>
  );
}
