import { type ReactNode, useState } from 'react';
import { Provider } from 'urql';
import { ToastList } from '../ui/toast-list.tsx';
import { createToasts, ToastsContext } from '../ui/toasts-context.ts';
import { createKnownStates, KnownStatesContext } from '../workflows/known-states.ts';
import { createClient } from './client.ts';
import { useSession } from './session-context.ts';

/** State of one sign-in, discarded at sign-out. */
export function SignedIn({ children }: { children: ReactNode }) {
  const session = useSession();
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
