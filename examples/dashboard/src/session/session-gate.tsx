import { useEffect } from 'react';
import { Shell } from '../shell/shell.tsx';
import { useUnsentForms } from './drafts-context.ts';
import { useSessionState, WhoContext } from './session-context.ts';
import { SignIn } from './sign-in.tsx';
import { SignedIn } from './signed-in.tsx';

/** The app for signed-in people, the sign-in screen for everybody else. */
export function SessionGate() {
  const state = useSessionState();
  useWarningBeforeLeaving();
  if (state.kind === 'resuming') {
    return <main aria-busy="true" />; // For one short request: a placeholder would only flash.
  }
  if (state.kind === 'signed-out') {
    return <SignIn {...state} />;
  }
  return (
    <WhoContext value={state.who}>
      <SignedIn>
        <Shell />
      </SignedIn>
    </WhoContext>
  );
}

/** Asks before the page is closed or reloaded while there is unsent text. */
function useWarningBeforeLeaving(): void {
  const hasUnsent = useUnsentForms().length > 0;
  useEffect(() => {
    if (hasUnsent) {
      const warn = (event: BeforeUnloadEvent) => event.preventDefault();
      addEventListener('beforeunload', warn);
      return () => removeEventListener('beforeunload', warn);
    }
  }, [hasUnsent]);
}
