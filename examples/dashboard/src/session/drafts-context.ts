import { createContext, use, useSyncExternalStore } from 'react';
import type { Drafts } from './drafts.ts';
import { useWho } from './session-context.ts';

export const DraftsContext = createContext<Drafts | undefined>(undefined);

export function useDrafts(): Drafts {
  const drafts = use(DraftsContext);
  if (drafts === undefined) {
    throw new Error('There are no drafts around this component.');
  }
  return drafts;
}

/** The forms in which a person, or anybody, has unsent text. */
export function useUnsentForms(person?: string): readonly string[] {
  const drafts = useDrafts();
  return useSyncExternalStore(drafts.subscribe, () => drafts.forms(person));
}

/** The text of a field, kept until it is sent. @param initial what it says untouched */
export function useDraft(form: string, field: string, initial = ''): [string, (value: string) => void] {
  const drafts = useDrafts();
  const { person } = useWho();
  const value = useSyncExternalStore(drafts.subscribe, () => drafts.read(person, form, field));
  return [value ?? initial, (next) => drafts.write(person, form, field, next === initial ? undefined : next)];
}

/** Forgets what is typed in a form: it is sent, or given up. */
export function useClearDraft(form: string): () => void {
  const drafts = useDrafts();
  const { person } = useWho();
  return () => drafts.clear(person, form);
}
