// Shows a labeled input with its hint and error message.

import { type ComponentProps, useId } from 'react';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  hint?: string;
  /** Message about an invalid value. */
  error?: string | undefined;
}

export function Field({ label, hint, error, required, ...rest }: FieldProps) {
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {required && <span className="field-required"> (required)</span>}
      </label>
      <input
        {...rest}
        id={id}
        aria-required={required}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={describedBy.join(' ') || undefined}
      />
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
