import { useEffect, useRef, useState } from 'react';
import { Brand } from '../shell/brand.tsx';
import { ThemeMenu } from '../shell/theme-menu.tsx';
import { useTitle } from '../shell/use-title.ts';
import { Note } from '../ui/note.tsx';
import { RetryButton } from '../ui/retry-button.tsx';
import { EndedNote } from './ended-note.tsx';
import { usePeople } from './people.ts';
import { PeopleSkeleton } from './people-skeleton.tsx';
import { PersonButton } from './person-button.tsx';
import { SessionRefused } from './server.ts';
import type { SessionState } from './session.ts';
import { useSession } from './session-context.ts';

/** The people of the development issuer. Replace this with your identity provider's page. */
export function SignIn({ ended, hasSignOutFailed }: Extract<SessionState, { kind: 'signed-out' }>) {
  const session = useSession();
  const { people, hasFailed, reload } = usePeople();
  const [pending, setPending] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle('Sign in');
  useEffect(() => heading.current?.focus(), []); // What had the focus before is gone.

  async function signIn(person: string) {
    setPending(person);
    setFailure(undefined);
    try {
      await session.signIn(person);
    } catch (error) {
      setPending(undefined);
      setFailure(
        error instanceof SessionRefused
          ? 'The sign-in service refused this person.'
          : 'The sign-in service cannot be reached. Check that it is running, then try again.',
      );
    }
  }

  return (
    <main className="sign-in">
      <div className="sign-in-head">
        <Brand />
        <ThemeMenu />
      </div>
      <h1 ref={heading} tabIndex={-1}>
        Sign in
      </h1>
      {ended && <EndedNote who={ended} />}
      {hasSignOutFailed && (
        <Note kind="error" title="You are not signed out yet.">
          <p>The sign-in service cannot be reached. Whoever reloads this page is signed in as you.</p>
          <RetryButton label="Sign out" waitSeconds={0} onRetry={session.signOut} />
        </Note>
      )}
      <p className="lead">
        Choose who you are. This is the development issuer: it asks for no password, and its people are made up.
      </p>
      {failure !== undefined && <Note kind="error" title={failure} />}
      {hasFailed && (
        <Note kind="error" title="The sign-in service cannot be reached.">
          <p>It starts together with the app: npm run dashboard.</p>
          <RetryButton label="Try again" waitSeconds={0} onRetry={reload} />
        </Note>
      )}
      {people === undefined && !hasFailed && <PeopleSkeleton />}
      <ul className="people">
        {people?.map((person) => (
          <li key={person.id}>
            <PersonButton person={person} isBusy={pending === person.id} onChoose={() => signIn(person.id)} />
          </li>
        ))}
      </ul>
    </main>
  );
}
