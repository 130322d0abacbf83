import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createDrafts } from './session/drafts.ts';
import { createSession } from './session/session.ts';
import './styles/index.css';

const root = document.getElementById('root');
if (root === null) {
  throw new Error('The page has no element #root.');
}
createRoot(root).render(
  <StrictMode>
    <App session={createSession()} drafts={createDrafts()} />
  </StrictMode>,
);
