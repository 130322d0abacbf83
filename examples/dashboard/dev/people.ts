/** Somebody who can sign in at the development issuer. */
export interface Person {
  /** Names the person in `POST /token`; the token's `sub`. */
  id: string;
  name: string;
  /** What the person does, for the sign-in screen. */
  role: string;
  /** Whose data the person sees: a tenant of notigraph.config.yaml. */
  tenant: string;
  /** What the person may do. */
  scopes: readonly string[];
}

const READ = ['stats:read', 'workflows:read', 'groups:read'];
const WRITE = ['workflows:write', 'groups:write', 'subscribers:write'];

/** Made up; each shows another side of what a token permits. */
export const DEMO_PEOPLE: readonly Person[] = [
  { id: 'ada', name: 'Ada Lindqvist', role: 'Editor', tenant: 'juniper', scopes: [...READ, ...WRITE] },
  { id: 'ben', name: 'Ben Osei', role: 'Viewer', tenant: 'juniper', scopes: READ },
  { id: 'cleo', name: 'Cleo Marchetti', role: 'Analyst', tenant: 'juniper', scopes: ['stats:read'] },
  { id: 'dev', name: 'Dev Kapoor', role: 'Editor', tenant: 'fernhill', scopes: [...READ, ...WRITE] },
];
