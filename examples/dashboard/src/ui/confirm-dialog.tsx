import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface ConfirmDialogProps {
  title: string;
  /** Label of the button that confirms, such as "Delete". */
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
  /** Also by Escape. */
  onClose: () => void;
  children: ReactNode;
}

/** Asks for confirmation of something that can't be undone. While it is open, the rest of the page is inert; then focus returns. */
export function ConfirmDialog({ title, action, isBusy = false, onConfirm, onClose, children }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close(); // Before it is removed: that gives the focus back.
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" isBusy={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </dialog>
  );
}
