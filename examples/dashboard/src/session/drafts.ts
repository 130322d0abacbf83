// Keeps what was typed into forms and not sent.

import { createStore, type Store } from '../store.ts';

/** Something typed and not sent. */
interface Draft {
  person: string;
  /** The form it belongs to, as it is named to the person. */
  form: string;
  value: string;
}

/** Text typed into forms, kept in memory per person across views and expired sessions. The keys name person, form and field. */
export type Drafts = Store<ReadonlyMap<string, Draft>>;

export const createDrafts = (): Drafts => createStore(new Map());

/** Returns the forms in which a person, or anybody, has unsent text. */
export function unsentForms(drafts: ReadonlyMap<string, Draft>, person?: string): string[] {
  const theirs = [...drafts.values()].filter((draft) => person === undefined || draft.person === person);
  return [...new Set(theirs.map(({ form }) => form))];
}

/** Forgets a form, or all forms of a person. */
export function clearDrafts(drafts: Drafts, person: string, form?: string): void {
  const isKept = (draft: Draft) => draft.person !== person || (form !== undefined && draft.form !== form);
  drafts.set(new Map([...drafts.get()].filter(([, draft]) => isKept(draft))));
}
