/** A person who can sign in at the development issuer. */
export interface Person {
  /** Names the person in `POST /token`; the token's `sub`. */
  id: string;
  name: string;
  /** The person's job, for the sign-in screen. */
  role: string;
  /** The person's tenant in notigraph.config.yaml. */
  tenant: string;
  /** The scopes of the person's tokens. */
  scopes: readonly string[];
}

const READ = ['stats:read', 'workflows:read', 'groups:read'];
const EDIT = [...READ, 'workflows:write', 'groups:write', 'feeds:read', 'feeds:write', 'subscribers:write'];

const ADMINISTER = [...EDIT, 'messages:read', 'messages:write'];

/** Invented people with different scopes and tenants. Only administrators see and delete messages. */
export const DEMO_PEOPLE: readonly Person[] = [
  { id: 'ada', name: 'Ada Lindqvist', role: 'Administrator', tenant: 'juniper', scopes: ADMINISTER },
  { id: 'ben', name: 'Ben Osei', role: 'Viewer', tenant: 'juniper', scopes: READ },
  { id: 'cleo', name: 'Cleo Marchetti', role: 'Analyst', tenant: 'juniper', scopes: ['stats:read'] },
  { id: 'dev', name: 'Dev Kapoor', role: 'Editor', tenant: 'fernhill', scopes: EDIT },
];
