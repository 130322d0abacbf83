// Shows a button to try again, enabled after the wait.

import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

interface RetryButtonProps {
  label: string;
  /** Seconds until it can be used. */
  waitSeconds: number;
  onRetry: () => void;
}

export function RetryButton({ label, waitSeconds, onRetry }: RetryButtonProps) {
  const [left, setLeft] = useState(waitSeconds);
  useEffect(() => {
    if (left > 0) {
      const timer = setTimeout(() => setLeft(left - 1), 1000);
      return () => clearTimeout(timer);
    }
  }, [left]);
  return (
    <Button onClick={onRetry} refusal={left > 0 ? 'Wait before you try again.' : undefined}>
      {label}
      {left > 0 && <span aria-hidden="true"> ({left > 120 ? `${Math.ceil(left / 60)} min` : `${left} s`})</span>}
    </Button>
  );
}
