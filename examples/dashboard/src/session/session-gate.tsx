// Shows the app to signed-in people, and the sign-in screen to everybody else.

import { type ReactNode, useEffect, useState } from 'react';
import { Provider } from 'urql';
import { useApp } from '../app-context.ts';
import { Shell } from '../shell/shell.tsx';
import { useStore } from '../store.ts';
import { ToastList } from '../ui/toast-list.tsx';
import { createToasts, ToastsContext } from '../ui/toasts-context.ts';
import { createKnownStates, KnownStatesContext } from '../workflows/known-states.ts';
import { createClient } from './client.ts';
import { SignIn } from './sign-in.tsx';
import { useUnsentForms } from './use-drafts.ts';
import { WhoContext } from './who-context.ts';

export function SessionGate() {
  const state = useStore(useApp().session);
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

/** State of one sign-in, discarded at sign-out. */
function SignedIn({ children }: { children: ReactNode }) {
  const { session } = useApp();
  const [client] = useState(() => createClient(session));
  const [knownStates] = useState(createKnownStates);
  const [toasts] = useState(createToasts);
  return (
    <Provider value={client}>
      <KnownStatesContext value={knownStates}>
        <ToastsContext value={toasts}>
          {children}
          <ToastList />
        </ToastsContext>
      </KnownStatesContext>
    </Provider>
  );
}
