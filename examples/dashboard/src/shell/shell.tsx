// Shows the frame around every view.

import { type ReactNode, useRef } from 'react';
import { FeedsView } from '../feeds/feeds-view.tsx';
import { GroupsView } from '../groups/groups-view.tsx';
import { MessagesView } from '../messages/messages-view.tsx';
import { StatisticsView } from '../statistics/statistics-view.tsx';
import { SubscribersView } from '../subscribers/subscribers-view.tsx';
import { WorkflowsView } from '../workflows/workflows-view.tsx';
import { Brand } from './brand.tsx';
import { ROUTES, type RouteName, useRoute } from './routes.ts';
import { UserMenu } from './user-menu.tsx';

const VIEWS: Readonly<Record<RouteName, () => ReactNode>> = {
  statistics: StatisticsView,
  workflows: WorkflowsView,
  groups: GroupsView,
  feeds: FeedsView,
  messages: MessagesView,
  subscribers: SubscribersView,
};

export function Shell() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const View = VIEWS[route];

  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="top">
        <Brand />
        <Navigation route={route} />
        <UserMenu />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View key={route} />
      </main>
    </div>
  );
}

/** Links to the views. */
function Navigation({ route }: { route: RouteName }) {
  return (
    <nav className="navigation" aria-label="Views">
      <ul>
        {ROUTES.map(({ name, label }) => (
          <li key={name}>
            <a href={`#/${name}`} aria-current={name === route ? 'page' : undefined} data-label={label}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
