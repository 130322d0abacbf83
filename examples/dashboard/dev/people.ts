// Lists the people who can sign in at the development issuer, with their scopes.

/** A person who can sign in at the development issuer. */
export interface Person {
  /** Names the person in `POST /token`. */
  id: string;
  /** The person as a recipient of notifications: the id of a subscriber at the service, and the token's `sub`. */
  subscriberId: string;
  name: string;
  /** The person's job, for the sign-in screen. */
  role: string;
  /** The person's tenant in notigraph.config.yaml. */
  tenant: string;
  /** The scopes of the person's tokens. */
  scopes: readonly string[];
}

/** Scopes of everybody: the person's own inbox. The subject of the token says whose it is. */
const OWN = ['inbox:read', 'inbox:write'];

const READ = [...OWN, 'stats:read', 'workflows:read', 'groups:read'];
const EDIT = [...READ, 'workflows:write', 'groups:write', 'feeds:read', 'feeds:write', 'subscribers:write'];

const ADMINISTER = [...EDIT, 'messages:read', 'messages:write'];

/** Invented people with different scopes and tenants, and subscribers of the sandbox. Only administrators see and delete the messages of others. */
export const DEMO_PEOPLE: readonly Person[] = [
  {
    id: 'ada',
    subscriberId: 'customer-1001',
    name: 'Ada Lindqvist',
    role: 'Administrator',
    tenant: 'juniper',
    scopes: ADMINISTER,
  },
  { id: 'ben', subscriberId: 'customer-1002', name: 'Ben Osei', role: 'Viewer', tenant: 'juniper', scopes: READ },
  {
    id: 'cleo',
    subscriberId: 'customer-1003',
    name: 'Cleo Marchetti',
    role: 'Analyst',
    tenant: 'juniper',
    scopes: [...OWN, 'stats:read'],
  },
  { id: 'dev', subscriberId: 'live-501', name: 'Dev Kapoor', role: 'Editor', tenant: 'fernhill', scopes: EDIT },
];
