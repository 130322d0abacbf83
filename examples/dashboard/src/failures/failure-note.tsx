// Shows a failure and how to fix it.

import { Note } from '../ui/note.tsx';
import { RetryButton } from '../ui/retry-button.tsx';
import type { Failure } from './failure.ts';

interface FailureNoteProps {
  failure: Failure;
  /** Offers another attempt. */
  onRetry?: () => void;
  /** @default 'Try again' */
  retryLabel?: string;
}

export function FailureNote({ failure, onRetry, retryLabel = 'Try again' }: FailureNoteProps) {
  const { title, details, waitSeconds, requestId, fields } = failure;
  const count = Object.keys(fields).length;
  return (
    <Note kind="error" title={title}>
      {count > 0 && <p>See the {count === 1 ? 'field that is' : 'fields that are'} marked.</p>}
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
      {onRetry && <RetryButton key={requestId} label={retryLabel} waitSeconds={waitSeconds ?? 0} onRetry={onRetry} />}
      {requestId !== undefined && <p className="fine-print">Request {requestId}</p>}
    </Note>
  );
}
