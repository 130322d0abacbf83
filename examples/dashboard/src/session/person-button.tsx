import type { Person } from './server.ts';
import { summarizeScopes } from './summarize-scopes.ts';

interface PersonButtonProps {
  person: Person;
  isBusy: boolean;
  onChoose: () => void;
}

/** Somebody to sign in as. */
export function PersonButton({ person, isBusy, onChoose }: PersonButtonProps) {
  const { name, role, tenant, scopes } = person;
  return (
    <button type="button" className="person" aria-busy={isBusy || undefined} onClick={onChoose}>
      <span className="avatar" aria-hidden="true">
        {name.charAt(0)}
      </span>
      <span className="person-text">
        <span className="person-name">{name}</span>
        <span className="person-role">
          {role} at {tenant}
        </span>
        <span className="person-scopes">{summarizeScopes(scopes)}</span>
      </span>
    </button>
  );
}
