import type { PageConfig } from './config.ts';
import { RUN_SHORTCUT } from './toolbar.tsx';

/** Options of the welcome. */
interface WelcomeProps {
  config: PageConfig;
  /** Whether no operation has been run yet. */
  isFirst: boolean;
}

/** Content of an empty response pane. */
export function Welcome({ config, isFirst }: WelcomeProps) {
  const run = (
    <p>
      Press <strong>Run</strong> or <kbd>{RUN_SHORTCUT}</kbd> to send the operation.
    </p>
  );
  if (!isFirst) {
    return <div className="welcome">{run}</div>;
  }
  return (
    <div className="welcome">
      <h2>Welcome to Notigraph</h2>
      {config.isSandbox ? (
        <p>
          This is the GraphQL API of a notification service. It runs on the <strong>sandbox</strong> with sample data,
          so you can try everything, including changes.
        </p>
      ) : (
        <p>
          This is the GraphQL API of your notification service. Operations use <strong>the real service</strong>:
          mutations change its data.
        </p>
      )}
      {run}
      <ul>
        <li>
          <strong>Operations</strong>, at the top, has a ready example of everything the API can do.
        </li>
        <li>
          <strong>Explain</strong> lists the REST calls of an operation without sending them.
        </li>
        <li>
          <strong>Docs</strong> describes every type and field. While you type, <kbd>Ctrl-Space</kbd> completes.
        </li>
      </ul>
    </div>
  );
}
