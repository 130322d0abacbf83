// Shows parts of the app only to people with a scope, and tells the others whom to ask.

import type { ReactNode } from 'react';
import { useApp } from '../app-context.ts';
import { useStore } from '../store.ts';
import { Note } from '../ui/note.tsx';
import { useMay, useWho } from './who-context.ts';

interface PermittedProps {
  scope: string;
  /** @default 'see' */
  verb?: 'see' | 'add' | 'change' | 'delete';
  /** The things that the scope is for, such as "groups". */
  what: string;
  children: ReactNode;
}

/** Shows its children to people with the scope, and the reason and whom to ask to everybody else. */
export function Permitted({ scope, verb = 'see', what, children }: PermittedProps) {
  const isPermitted = useMay(scope);
  const { name } = useWho();
  const ask = useWhomToAsk(scope);
  return isPermitted ? (
    children
  ) : (
    <Note kind="info" title={`${name} cannot ${verb} ${what}.`}>
      <p>
        This requires <code>{scope}</code>. {ask}
      </p>
    </Note>
  );
}

/** Returns the reason why changes are disabled and whom to ask, or undefined if they aren't. */
export function useRefusal(scope: string): string | undefined {
  const ask = useWhomToAsk(scope);
  return useMay(scope) ? undefined : `You have read-only access. Changes require ${scope}. ${ask}`;
}

/** Returns whom to ask for a permission, as a sentence: the people of the same tenant who have it. */
function useWhomToAsk(scope: string): string {
  const { tenant } = useWho();
  const { people = [] } = useStore(useApp().people);
  const names = people
    .filter((person) => person.tenant === tenant && person.scopes.includes(scope))
    .map(({ name, role }) => `${name} (${role})`);
  return names.length === 0
    ? `Nobody at ${tenant} has it: ask whoever manages your accounts.`
    : `Ask ${new Intl.ListFormat('en', { type: 'disjunction' }).format(names)}.`;
}

/** Says above the content that it can't be changed. */
export function ReadOnlyNote({ refusal }: { refusal: string | undefined }) {
  return (
    refusal !== undefined && (
      <Note kind="info">
        <p>{refusal}</p>
      </Note>
    )
  );
}
