// Gives forms what was typed into them and not sent, and forgets it.

import { useApp } from '../app-context.ts';
import { useStore } from '../store.ts';
import { clearDrafts, unsentForms } from './drafts.ts';
import { useWho } from './who-context.ts';

/** The forms in which a person, or anybody, has unsent text. */
export const useUnsentForms = (person?: string): string[] => unsentForms(useStore(useApp().drafts), person);

/** The text of a field, kept until it is sent. @param initial what it says untouched */
export function useDraft(form: string, field: string, initial = ''): [string, (value: string) => void] {
  const { drafts } = useApp();
  const { person } = useWho();
  const key = JSON.stringify([person, form, field]);
  const value = useStore(drafts).get(key)?.value ?? initial;
  const change = (next: string) => {
    const changed = new Map(drafts.get());
    if (next === initial) {
      changed.delete(key);
    } else {
      changed.set(key, { person, form, value: next });
    }
    drafts.set(changed);
  };
  return [value, change];
}

/** Forgets what is typed in a form: it is sent, or given up. */
export function useClearDraft(form: string): () => void {
  const { drafts } = useApp();
  const { person } = useWho();
  return () => clearDrafts(drafts, person, form);
}
