import { useState } from 'react';
import { useDrafts, useUnsentForms } from '../session/drafts-context.ts';
import { useSession, useWho } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { forgetRoute } from './routes.ts';
import { ThemeMenu } from './theme-menu.tsx';

/** The signed-in person, and the button to sign out. */
export function UserMenu() {
  const session = useSession();
  const drafts = useDrafts();
  const { person, name, tenant } = useWho();
  const unsent = useUnsentForms(person);
  const [isAsking, setIsAsking] = useState(false);

  function signOut() {
    drafts.clear(person);
    void session.signOut();
    forgetRoute();
  }

  return (
    <div className="user">
      <span className="user-text">
        <span className="user-name">{name}</span>
        <span className="user-tenant">{tenant}</span>
      </span>
      <ThemeMenu />
      <Button onClick={unsent.length > 0 ? () => setIsAsking(true) : signOut}>Sign out</Button>
      {isAsking && (
        <ConfirmDialog
          title="Sign out without sending?"
          action="Sign out"
          onConfirm={signOut}
          onClose={() => setIsAsking(false)}
        >
          <p>What you have typed in {unsent.map((form) => `“${form}”`).join(' and ')} is not sent, and will be lost.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
