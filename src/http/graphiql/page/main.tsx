import '@graphiql/react/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import './styles/index.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { readConfig } from './config.ts';
import { ErrorBoundary } from './error-boundary.tsx';

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <ErrorBoundary part="GraphiQL">
      <App config={readConfig()} />
    </ErrorBoundary>,
  );
}
