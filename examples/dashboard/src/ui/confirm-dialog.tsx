// Asks for confirmation of something that can't be undone or affects others.

import { type ReactNode, useId } from 'react';
import { Dialog, Heading } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';

interface ConfirmDialogProps {
  title: string;
  /** Label of the button that confirms, such as "Delete". */
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
  /** Also called by Escape. */
  onClose: () => void;
  /** Effect of the action, in a sentence or two. */
  children: ReactNode;
}

/** A click beside the dialog doesn't close it. */
export function ConfirmDialog({ title, action, isBusy = false, onConfirm, onClose, children }: ConfirmDialogProps) {
  const textId = useId();
  return (
    <ModalOverlay className="backdrop" isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className="dialog">
        <Dialog role="alertdialog" aria-describedby={textId}>
          <Heading slot="title">{title}</Heading>
          <div id={textId} className="dialog-text">
            {children}
          </div>
          <div className="actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="danger" isBusy={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
