import { type ReactNode, useEffect, useRef } from 'react';
import { useMay, useWho } from '../session/session-context.ts';
import { Note } from '../ui/note.tsx';
import { useTitle } from './use-title.ts';

interface ViewProps {
  title: string;
  lead?: string;
  /** Beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** One view. It takes the focus, so that keyboard and screen reader continue from its title. */
export function View({ title, lead, actions, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  useEffect(() => {
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <div className="view-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions}
      </div>
      {children}
    </>
  );
}

/** Shows its children to people with the scope, and the reason to everybody else. */
export function Permitted({ scope, what, children }: { scope: string; what: string; children: ReactNode }) {
  const isPermitted = useMay(scope);
  const { name } = useWho();
  return isPermitted ? (
    children
  ) : (
    <Note kind="info" title={`${name} cannot see ${what}.`}>
      <p>
        This requires <code>{scope}</code>.
      </p>
    </Note>
  );
}

/** Returns the reason why changes are disabled, or undefined if they aren't. */
export function useRefusal(scope: string): string | undefined {
  return useMay(scope) ? undefined : `You have read-only access. Changes require ${scope}.`;
}
