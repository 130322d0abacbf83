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
const session = createSession();
const people = createPeopleStore();
void session.resume();
void people.load();
createRoot(root).render(
  <StrictMode>
    <App session={session} drafts={createDrafts()} people={people} theme={theme} />
  </StrictMode>,
);
