import type { Drafts } from './session/drafts.ts';
import { DraftsContext } from './session/drafts-context.ts';
import type { Session } from './session/session.ts';
import { SessionContext } from './session/session-context.ts';
import { SessionGate } from './session/session-gate.tsx';

interface AppProps {
  session: Session;
  drafts: Drafts;
}

/** The whole app, for one page. */
export function App({ session, drafts }: AppProps) {
  return (
    <SessionContext value={session}>
      <DraftsContext value={drafts}>
        <SessionGate />
      </DraftsContext>
    </SessionContext>
  );
}
