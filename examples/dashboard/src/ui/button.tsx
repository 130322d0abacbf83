// Shows a button, which can be busy or say why it can't be used.

import { type ComponentProps, type MouseEvent, useId } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  /** @default 'plain' */
  kind?: 'primary' | 'plain' | 'danger' | 'delete' | 'quiet' | 'link';
  /** Whether its action is running: another click does nothing. */
  isBusy?: boolean;
  /** Reason why it can't be used. It stays focusable, so that everybody can read the reason. */
  refusal?: string | undefined;
}

export function Button({
  kind = 'plain',
  isBusy = false,
  refusal,
  onClick,
  children,
  className,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const isOff = isBusy || refusal !== undefined;
  function onAllowedClick(event: MouseEvent<HTMLButtonElement>) {
    if (isOff) {
      event.preventDefault(); // Nor is a form sent.
    } else {
      onClick?.(event);
    }
  }
  return (
    <>
      <button
        type="button"
        {...rest}
        className={`button button-${kind} ${className ?? ''}`}
        onClick={onAllowedClick}
        aria-disabled={isOff || undefined}
        aria-busy={isBusy || undefined}
        aria-describedby={refusal === undefined ? undefined : reasonId}
        title={refusal}
      >
        {children}
      </button>
      {refusal !== undefined && (
        <span id={reasonId} hidden>
          {refusal}
        </span>
      )}
    </>
  );
}
