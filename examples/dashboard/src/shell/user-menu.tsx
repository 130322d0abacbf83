// Shows the signed-in person, and the button to sign out.

import { useState } from 'react';
import { useApp } from '../app-context.ts';
import { Bell } from '../inbox/bell.tsx';
import { clearDrafts } from '../session/drafts.ts';
import { useUnsentForms } from '../session/use-drafts.ts';
import { useMay, useWho } from '../session/who-context.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { forgetRoute } from './routes.ts';
import { ThemeMenu } from './theme-menu.tsx';

export function UserMenu() {
  const { session, drafts } = useApp();
  const { person, name, tenant } = useWho();
  const mayReadInbox = useMay('inbox:read');
  const unsent = useUnsentForms(person);
  const [isAsking, setIsAsking] = useState(false);

  function signOut() {
    clearDrafts(drafts, person);
    void session.signOut();
    forgetRoute();
  }

  return (
    <div className="user">
      <span className="user-text">
        <span className="user-name">{name}</span>
        <span className="user-tenant">{tenant}</span>
      </span>
      {mayReadInbox && <Bell />}
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
