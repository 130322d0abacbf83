import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

interface RetryButtonProps {
  label: string;
  /** How long it cannot be used at first. */
  waitSeconds: number;
  onRetry: () => void;
}

/** Tries again, once the time to wait is over. */
export function RetryButton({ label, waitSeconds, onRetry }: RetryButtonProps) {
  const [left, setLeft] = useState(waitSeconds);
  useEffect(() => {
    if (left > 0) {
      const timer = setTimeout(() => setLeft(left - 1), 1000);
      return () => clearTimeout(timer);
    }
  }, [left]);
  return (
    <Button onClick={onRetry} refusal={left > 0 ? 'There is still time to wait.' : undefined}>
      {label}
      {left > 0 && <span aria-hidden="true"> ({left > 120 ? `${Math.ceil(left / 60)} min` : `${left} s`})</span>}
    </Button>
  );
}
