// Shows the current toast, at the lower edge of the page.

// The prefix UNSTABLE says that the names may change in a minor release; this file and toasts-context.ts are the only ones that use them.
import {
  Button,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { Icon } from './icon.tsx';
import { useToasts } from './toasts-context.ts';

/** F6 moves the focus to the toast. */
export function ToastList() {
  return (
    <ToastRegion queue={useToasts()} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          {/* Waits its turn: only failures interrupt a screen reader. */}
          <ToastContent role="status" className="toast-text">
            <Text slot="title">{toast.content}</Text>
          </ToastContent>
          <Button slot="close" className="icon-button" aria-label="Close message">
            <Icon name="close" />
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
