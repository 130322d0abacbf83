import type { Drafts } from './session/drafts.ts';
import { DraftsContext } from './session/drafts-context.ts';
import { PeopleContext, type PeopleStore } from './session/people.ts';
import type { Session } from './session/session.ts';
import { SessionContext } from './session/session-context.ts';
import { SessionGate } from './session/session-gate.tsx';
import { ThemeContext, type ThemeStore } from './shell/theme.ts';

interface AppProps {
  session: Session;
  drafts: Drafts;
  people: PeopleStore;
  theme: ThemeStore;
}

/** The whole app, for one page. */
export function App({ session, drafts, people, theme }: AppProps) {
  return (
    <ThemeContext value={theme}>
      <SessionContext value={session}>
        <PeopleContext value={people}>
          <DraftsContext value={drafts}>
            <SessionGate />
          </DraftsContext>
        </PeopleContext>
      </SessionContext>
    </ThemeContext>
  );
}
