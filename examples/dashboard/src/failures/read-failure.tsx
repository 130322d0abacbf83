import { useEffect } from 'react';
import type { CombinedError } from 'urql';
import { explainError } from './explain-error.ts';
import { FailureNote } from './failure-note.tsx';

interface ReadFailureProps {
  error: CombinedError;
  /** Reads again. */
  onRetry: () => void;
}

/** Why something could not be loaded. It is loaded again by the button, or when the browser is connected again. */
export function ReadFailure({ error, onRetry }: ReadFailureProps) {
  useEffect(() => {
    addEventListener('online', onRetry);
    return () => removeEventListener('online', onRetry);
  }, [onRetry]);
  return <FailureNote failure={explainError(error, 'read')} onRetry={onRetry} />;
}
