import { useId } from 'react';

interface SwitchProps {
  /** Name of the switched thing, for screen readers. */
  label: string;
  isOn: boolean;
  isBusy?: boolean;
  /** Reason why it can't be used. */
  refusal?: string | undefined;
  onFlip: () => void;
}

/** On or off. */
export function Switch({ label, isOn, isBusy = false, refusal, onFlip }: SwitchProps) {
  const reasonId = useId();
  const isOff = isBusy || refusal !== undefined;
  return (
    <>
      <button
        type="button"
        role="switch"
        className="switch"
        aria-checked={isOn}
        aria-label={label}
        aria-disabled={isOff || undefined}
        aria-busy={isBusy || undefined}
        aria-describedby={refusal === undefined ? undefined : reasonId}
        title={refusal}
        onClick={isOff ? undefined : onFlip}
      >
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span aria-hidden="true">{isOn ? 'On' : 'Off'}</span>
      </button>
      {refusal !== undefined && (
        <span id={reasonId} hidden>
          {refusal}
        </span>
      )}
    </>
  );
}
