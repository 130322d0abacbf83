import { useDraft } from '../session/drafts-context.ts';
import { Field } from '../ui/field.tsx';
import { FORM, type SubscriberFieldDefinition } from './fields.ts';

interface SubscriberFieldProps {
  field: SubscriberFieldDefinition;
  error: string | undefined;
}

/** One field of the form; its text is kept until it is sent. */
export function SubscriberField({ field, error }: SubscriberFieldProps) {
  const { name, label, hint, type = 'text', isRequired = false } = field;
  const [value, setValue] = useDraft(FORM, name);
  return (
    <Field
      name={name}
      label={label}
      type={type}
      required={isRequired}
      value={value}
      error={error}
      {...(hint !== undefined && { hint })}
      onChange={(event) => setValue(event.target.value)}
    />
  );
}
