import { type FormEvent, type RefObject, useRef, useState } from 'react';

interface ConfirmedText {
  /** The text without spaces around it. */
  text: string;
  /** Properties of the field. */
  field: {
    ref: RefObject<HTMLInputElement | null>;
    value: string;
    error: string | undefined;
    onChange: (event: { target: { value: string } }) => void;
  };
  /** Whether the confirmation is open. */
  isAsking: boolean;
  /** Opens the confirmation, or says that the text is missing. */
  ask: (event: FormEvent) => void;
  close: () => void;
  clear: () => void;
}

/**
 * Returns the text of a form that asks for confirmation.
 *
 * @param missing problem of an empty text
 */
export function useConfirmedText(missing: string): ConfirmedText {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [isAsking, setIsAsking] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const text = typed.trim();
  return {
    text,
    field: { ref: input, value: typed, error, onChange: ({ target }) => setTyped(target.value) },
    isAsking,
    ask(event) {
      event.preventDefault();
      setError(text === '' ? missing : undefined);
      if (text === '') {
        input.current?.focus();
      } else {
        setIsAsking(true);
      }
    },
    close: () => setIsAsking(false),
    clear: () => setTyped(''),
  };
}
