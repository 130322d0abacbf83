// Shows the field for a group's name, and offers a free one if the name is taken.

import type { Ref } from 'react';
import type { Failure } from '../failures/failure.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { type NameProblem, suggestName } from './group-name.ts';

interface GroupNameFieldProps {
  ref: Ref<HTMLInputElement>;
  label: string;
  value: string;
  isDisabled?: boolean;
  /** Found before sending. */
  problem: NameProblem | undefined;
  /** Found by the service. */
  failure: Failure | undefined;
  /** Names of the other groups. */
  taken: readonly string[];
  onChange: (name: string) => void;
}

export function GroupNameField(props: GroupNameFieldProps) {
  const { ref, label, value, isDisabled = false, problem, failure, taken, onChange } = props;
  const suggestion = problem?.suggestion ?? (failure?.isTaken ? suggestName(value, taken) : undefined);
  return (
    <div className="field-with-action">
      <Field
        ref={ref}
        label={label}
        required
        value={value}
        disabled={isDisabled}
        error={problem?.message ?? (failure?.isTaken ? 'This name already exists.' : failure?.fields.name)}
        onChange={(event) => onChange(event.target.value)}
      />
      {suggestion !== undefined && (
        <Button kind="link" onClick={() => onChange(suggestion)}>
          Use “{suggestion}”
        </Button>
      )}
    </div>
  );
}
