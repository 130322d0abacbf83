// Shows a view with its title.

import { type ReactNode, useEffect, useRef } from 'react';
import { useTitle } from './use-title.ts';

interface ViewProps {
  title: string;
  lead?: string;
  /** Beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** Takes the focus, so that keyboard and screen reader continue from the title. */
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
