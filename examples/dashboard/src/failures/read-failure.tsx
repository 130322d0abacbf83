// Shows why loading failed.

import { useEffect } from 'react';
import type { CombinedError } from 'urql';
import { explainError } from './explain-error.ts';
import { FailureNote } from './failure-note.tsx';

interface ReadFailureProps {
  error: CombinedError;
  /** Loads it again. */
  onRetry: () => void;
}

/** Loads again when the button is pressed or the browser is back online. */
export function ReadFailure({ error, onRetry }: ReadFailureProps) {
  useEffect(() => {
    addEventListener('online', onRetry);
    return () => removeEventListener('online', onRetry);
  }, [onRetry]);
  return <FailureNote failure={explainError(error, 'read')} onRetry={onRetry} />;
}
