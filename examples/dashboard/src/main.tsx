import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createDrafts } from './session/drafts.ts';
import { createPeopleStore } from './session/people.ts';
import { createSession } from './session/session.ts';
import { createThemeStore } from './shell/theme.ts';
import './styles/index.css';

const root = document.getElementById('root');
if (root === null) {
  throw new Error('The page has no element #root.');
}
const theme = createThemeStore(); // Before anything is shown.
createRoot(root).render(
  <StrictMode>
    <App session={createSession()} drafts={createDrafts()} people={createPeopleStore()} theme={theme} />
  </StrictMode>,
);
