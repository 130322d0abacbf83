// Creates the state of the page, and shows the app.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AppContext } from './app-context.ts';
import { createDrafts } from './session/drafts.ts';
import { createPeople } from './session/people.ts';
import { createSession } from './session/session.ts';
import { SessionGate } from './session/session-gate.tsx';
import { createTheme } from './shell/theme.ts';
import './styles/index.css';

const root = document.getElementById('root');
if (root === null) {
  throw new Error('The page has no element #root.');
}
const theme = createTheme(); // Before anything is shown.
const session = createSession();
const people = createPeople();
void session.resume();
void people.load();
createRoot(root).render(
  <StrictMode>
    <AppContext value={{ session, drafts: createDrafts(), people, theme }}>
      <SessionGate />
    </AppContext>
  </StrictMode>,
);
