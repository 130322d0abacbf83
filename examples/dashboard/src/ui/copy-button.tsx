// Shows a button that copies a text to the clipboard.

import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useToast } from './toasts-context.ts';

interface CopyButtonProps {
  text: string;
  /** Name of the button, for screen readers. */
  label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const toast = useToast();
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      toast(`Copied ${text}.`);
    } catch {
      toast('The browser did not allow copying. Select the text instead.');
    }
  }
  return (
    <Button aria-label={label} onClick={copy}>
      <Icon name="copy" />
      Copy id
    </Button>
  );
}
