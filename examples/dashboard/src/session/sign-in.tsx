// Shows the people of the development issuer, to sign in as one of them.

import { useEffect, useRef, useState } from 'react';
import { useApp } from '../app-context.ts';
import { Brand } from '../shell/brand.tsx';
import { ThemeMenu } from '../shell/theme-menu.tsx';
import { useTitle } from '../shell/use-title.ts';
import { useStore } from '../store.ts';
import { Note } from '../ui/note.tsx';
import { RetryButton } from '../ui/retry-button.tsx';
import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';
import { type Person, SessionRefused } from './server.ts';
import type { SessionState, Who } from './session.ts';
import { useUnsentForms } from './use-drafts.ts';

/** Replace this with your identity provider's page. */
export function SignIn({ ended, hasSignOutFailed }: Extract<SessionState, { kind: 'signed-out' }>) {
  const { session, people: all } = useApp();
  const { people, hasFailed } = useStore(all);
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
          <RetryButton label="Try again" waitSeconds={0} onRetry={all.load} />
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

/** Says that the session ended by itself, and what becomes of what was typed. */
function EndedNote({ who }: { who: Who }) {
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

interface PersonButtonProps {
  person: Person;
  isBusy: boolean;
  onChoose: () => void;
}

/** Somebody to sign in as. */
function PersonButton({ person, isBusy, onChoose }: PersonButtonProps) {
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

/** A placeholder for the people at sign-in, as high as they are. */
function PeopleSkeleton() {
  return (
    <Skeleton list="people" label="people" rows={4}>
      <span className="person">
        <span className="avatar" />
        <span className="person-text">
          <span className="person-name">
            <SkeletonLine width="9em" />
          </span>
          <span className="person-role">
            <SkeletonLine width="11em" />
          </span>
          <span className="person-scopes">
            <SkeletonLine width="16em" />
          </span>
        </span>
      </span>
    </Skeleton>
  );
}

const NOUNS: Readonly<Record<string, string>> = { stats: 'statistics' };

/** The noun of scopes that everybody has, for their own records. */
const OWN = 'inbox';

/** Nouns that the app deletes but never changes. */
const ONLY_DELETED = ['messages'];

/** `stats:read groups:read groups:write messages:write` becomes "Sees statistics, groups. Changes groups. Deletes messages." */
function summarizeScopes(scopes: readonly string[]): string {
  const nounsWith = (action: string) =>
    scopes
      .filter((scope) => scope.endsWith(`:${action}`))
      .map((scope) => scope.slice(0, scope.indexOf(':')))
      .filter((noun) => noun !== OWN)
      .map((noun) => NOUNS[noun] ?? noun);
  const read = nounsWith('read');
  const written = nounsWith('write').filter((noun) => !ONLY_DELETED.includes(noun));
  const deleted = nounsWith('write').filter((noun) => ONLY_DELETED.includes(noun));
  return [
    read.length > 0 ? `Sees ${read.join(', ')}.` : 'Sees nothing.',
    written.length > 0 ? `Changes ${written.join(', ')}.` : 'Changes nothing.',
    ...(deleted.length > 0 ? [`Deletes ${deleted.join(', ')}.`] : []),
  ].join(' ');
}
