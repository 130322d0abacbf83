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

/** One view: names itself and takes the focus, so that keyboard and screen reader go on from its title. */
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

/** Shows its children to who may see them, and the reason to everybody else. */
export function Permitted({ scope, what, children }: { scope: string; what: string; children: ReactNode }) {
  const isPermitted = useMay(scope);
  const { name } = useWho();
  return isPermitted ? (
    children
  ) : (
    <Note kind="info" title={`${name} may not see ${what}.`}>
      <p>
        This needs the permission <code>{scope}</code>.
      </p>
    </Note>
  );
}

/** Why something that changes records is disabled; undefined: it is not. */
export function useRefusal(scope: string): string | undefined {
  return useMay(scope) ? undefined : `You may look, but not change anything here: that needs the permission ${scope}.`;
}
