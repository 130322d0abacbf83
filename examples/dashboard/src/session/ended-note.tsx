import { Note } from '../ui/note.tsx';
import { useUnsentForms } from './drafts-context.ts';
import type { Who } from './session.ts';

/** Says that the session ended by itself, and what becomes of what was typed. */
export function EndedNote({ who }: { who: Who }) {
  const forms = useUnsentForms(who.person);
  return (
    <Note kind="error" title={`The session of ${who.name} has ended.`}>
      <p>The sign-in service did not renew it. Sign in again to go on.</p>
      {forms.length > 0 && (
        <p>
          What was typed in {forms.map((form) => `“${form}”`).join(' and ')} is not sent. It is kept on this page for{' '}
          {who.name}, until the page is closed.
        </p>
      )}
    </Note>
  );
}
