// Shows why a part of the page failed.

import { Component, type ReactNode } from 'react';
import { storage } from './storage.ts';

/** Shows why a part of the page failed, in its place. Stored state can be the cause, and would make it fail again at every visit. */
export class ErrorBoundary extends Component<{ part: string; children: ReactNode }, { failure?: string }> {
  override state: { failure?: string } = {};

  static getDerivedStateFromError(error: unknown): { failure: string } {
    return { failure: String(error) };
  }

  override render(): ReactNode {
    const { part, children } = this.props;
    const { failure } = this.state;
    if (failure === undefined) {
      return children;
    }
    return (
      <section className="failure" role="alert">
        <h2>{part} failed</h2>
        <p>
          <code>{failure}</code>
        </p>
        <p>
          Reload the page. If it fails again, reset it: this deletes the tabs, history and settings that your browser
          has stored for this page. The data of the service stays as it is.
        </p>
        <button type="button" onClick={reset}>
          Reset the page
        </button>
      </section>
    );
  }
}

/** Opens the page as on the first visit. The operation of the address isn't kept, because it can be the cause. */
function reset(): void {
  storage.clear();
  location.replace(location.pathname);
}
