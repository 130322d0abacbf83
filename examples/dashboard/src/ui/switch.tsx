// Shows whether something is on or off, and switches it.

import { useId } from 'react';
import { Switch as AriaSwitch } from 'react-aria-components/Switch';

interface SwitchProps {
  /** Name of the switched thing, for screen readers. */
  label: string;
  isOn: boolean;
  isBusy?: boolean;
  /** Reason why it can't be used. It stays focusable, so that everybody can read the reason. */
  refusal?: string | undefined;
  onFlip: () => void;
}

export function Switch({ label, isOn, isBusy = false, refusal, onFlip }: SwitchProps) {
  const reasonId = useId();
  const reason = refusal === undefined ? {} : { 'aria-describedby': reasonId, title: refusal };
  return (
    <>
      <AriaSwitch
        className="switch"
        aria-label={label}
        isSelected={isOn}
        isReadOnly={isBusy || refusal !== undefined}
        onChange={onFlip}
        data-busy={isBusy || undefined}
        {...reason}
      >
        <span className="switch-track" aria-hidden="true">
          <span className="switch-thumb" />
        </span>
        <span aria-hidden="true">{isOn ? 'On' : 'Off'}</span>
      </AriaSwitch>
      {refusal !== undefined && (
        <span id={reasonId} hidden>
          {refusal}
        </span>
      )}
    </>
  );
}
