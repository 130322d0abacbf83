import { createListeners } from '../listeners.ts';

/** Something typed and not sent. */
interface Draft {
  person: string;
  /** The form it belongs to, as it is named to the person. */
  form: string;
  value: string;
}

/** Text typed into forms, kept in memory per person across views and expired sessions. */
export interface Drafts {
  subscribe(listener: () => void): () => void;
  read(person: string, form: string, field: string): string | undefined;
  write(person: string, form: string, field: string, value: string | undefined): void;
  /** Forgets a form, or all forms of the person. */
  clear(person: string, form?: string): void;
  /** The forms in which the person, or anybody, has unsent text; the same array until one changes. */
  forms(person?: string): readonly string[];
}

export function createDrafts(): Drafts {
  const drafts = new Map<string, Draft>();
  const { subscribe, notify } = createListeners();
  let forms = new Map<string | undefined, readonly string[]>();

  function changed(): void {
    forms = new Map();
    notify();
  }

  const keyOf = (...parts: string[]) => JSON.stringify(parts);

  return {
    subscribe,
    read: (person, form, field) => drafts.get(keyOf(person, form, field))?.value,
    write(person, form, field, value) {
      const key = keyOf(person, form, field);
      if (value === undefined) {
        drafts.delete(key);
      } else {
        drafts.set(key, { person, form, value });
      }
      changed();
    },
    clear(person, form) {
      for (const [key, draft] of drafts) {
        if (draft.person === person && (form === undefined || draft.form === form)) {
          drafts.delete(key);
        }
      }
      changed();
    },
    forms(person) {
      let known = forms.get(person);
      if (known === undefined) {
        const theirs = [...drafts.values()].filter((draft) => person === undefined || draft.person === person);
        known = [...new Set(theirs.map(({ form }) => form))];
        forms.set(person, known);
      }
      return known;
    },
  };
}
