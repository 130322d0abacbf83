import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { type Claims, createTestKey, signToken } from '../support/issuer.ts';
import { ofFile } from '../support/lifetime.ts';

guards('src/auth/tokens/token-verifier.ts', 'findClaim');

/** Values of `tenantClaim`. Each belongs to the issuer of the same name. */
const TENANT_CLAIMS = [
  'app_metadata.tenant',
  'app_metadata.constructor.name',
  'app_metadata.organization.slug',
  'constructor.name',
  'https://example.com/tenant',
  'tenants.0',
  'tenants.length',
  '__proto__.constructor.name',
] as const;

type TenantClaim = (typeof TENANT_CLAIMS)[number];

const key = createTestKey();
const PERMITTED = { realm_access: { roles: ['groups:read'] } };

const issuers = TENANT_CLAIMS.map((tenantClaim) => ({
  issuer: tenantClaim,
  audience: 'app',
  publicKey: key.pem,
  tenantClaim,
  scopeClaim: 'realm_access.roles',
}));
const tenants = { acme: 'key-of-acme', globex: 'key-of-globex', Object: 'key-of-Object' };

const gateway = ofFile(
  await startGateway({
    service: () => ({ body: { data: [] } }),
    clients: { browser: { issuers, scopes: ['groups:read'], tenants } },
  }),
);

/** Sends a token. @returns the key of the upstream call, or the reason why there is none */
async function outcomeOf(issuer: TenantClaim, claims: Claims): Promise<unknown> {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const token = signToken({ alg: key.alg }, { iss: issuer, aud: 'app', exp, ...claims }, key);
  const before = gateway.service.requests.length;
  const { status, body } = await gateway.send(
    '{ notificationGroups { name } }',
    {},
    { authorization: `Bearer ${token}` },
  );
  const requests = gateway.service.requests.slice(before);
  if (status === 200) {
    return requests.map(({ headers }) => headers.authorization).join();
  }
  expect(requests).toEqual([]);
  const { reason, code } = body.errors?.[0]?.extensions ?? {};
  return reason ?? code;
}

describe('the claim with the tenant', () => {
  it.each<[string, TenantClaim, Claims, string]>([
    ['in an object', 'app_metadata.tenant', { app_metadata: { tenant: 'acme' } }, 'acme'],
    [
      'in an object of an object',
      'app_metadata.organization.slug',
      { app_metadata: { organization: { slug: 'globex' } } },
      'globex',
    ],
    ['named by a URL', 'https://example.com/tenant', { 'https://example.com/tenant': 'acme' }, 'acme'],
    [
      'of exactly this name, even if the path leads to another',
      'app_metadata.tenant',
      { app_metadata: { tenant: 'globex' }, 'app_metadata.tenant': 'acme' },
      'acme',
    ],
  ])('is found %s', async (_, claim, claims, tenant) => {
    expect(await outcomeOf(claim, { ...PERMITTED, ...claims })).toBe(`ApiKey key-of-${tenant}`);
  });

  it.each<[string, TenantClaim, Claims]>([
    ['without the object', 'app_metadata.tenant', { tenant: 'acme' }],
    ['without the member', 'app_metadata.tenant', { app_metadata: { name: 'acme' } }],
    ['without an object on the way', 'app_metadata.organization.slug', { app_metadata: { slug: 'acme' } }],
    [
      'with dots in the names of its parts',
      'app_metadata.organization.slug',
      { 'app_metadata.organization': { slug: 'acme' }, app_metadata: { 'organization.slug': 'acme' } },
    ],
    ['that objects inherit', 'constructor.name', {}],
    ['that objects inherit, inside of one', 'app_metadata.constructor.name', { app_metadata: {} }],
    ['of the prototype of objects', '__proto__.constructor.name', {}],
    ['in a member __proto__', 'app_metadata.tenant', JSON.parse('{"app_metadata":{"__proto__":{"tenant":"acme"}}}')],
  ])('is missing %s', async (_, claim, claims) => {
    expect(await outcomeOf(claim, { ...PERMITTED, ...claims })).toBe('TENANT_UNKNOWN');
  });

  it.each<[unknown]>([[null], [1], [true], ['acme'], [['acme']], [[{ tenant: 'acme' }]]])(
    'is rejected if the path leads into %j',
    async (value) => {
      expect(await outcomeOf('app_metadata.tenant', { ...PERMITTED, app_metadata: value })).toBe('TOKEN_INVALID');
    },
  );

  it.each<[string, TenantClaim, Claims]>([
    ['null', 'app_metadata.tenant', { app_metadata: { tenant: null } }],
    ['a number', 'app_metadata.tenant', { app_metadata: { tenant: 1 } }],
    ['an object', 'app_metadata.tenant', { app_metadata: { tenant: { name: 'acme' } } }],
    ['a list', 'app_metadata.tenant', { app_metadata: { tenant: ['acme'] } }],
    ['an item of a list', 'tenants.0', { tenants: ['acme'] }],
    ['the length of a list', 'tenants.length', { tenants: ['acme'] }],
    [
      'a list, even if the path leads to a text',
      'app_metadata.tenant',
      { app_metadata: { tenant: 'acme' }, 'app_metadata.tenant': ['acme'] },
    ],
  ])('is rejected if it is %s', async (_, claim, claims) => {
    expect(await outcomeOf(claim, { ...PERMITTED, ...claims })).toBe('TOKEN_INVALID');
  });
});

describe('the claim with the scopes', () => {
  const outcomeFor = (claims: Claims) =>
    outcomeOf('app_metadata.tenant', { app_metadata: { tenant: 'acme' }, ...claims });

  it.each<[string, Claims]>([
    ['a list in an object', { realm_access: { roles: ['admin', 'groups:read'] } }],
    ['a text in an object', { realm_access: { roles: 'admin groups:read' } }],
    ['a list of exactly this name', { 'realm_access.roles': ['groups:read'], realm_access: { roles: [] } }],
  ])('grants them if it is %s', async (_, claims) => {
    expect(await outcomeFor(claims)).toBe('ApiKey key-of-acme');
  });

  it.each<[string, Claims]>([
    ['is missing', { scope: 'groups:read', roles: ['groups:read'] }],
    ['is missing in the object', { realm_access: { scope: 'groups:read' } }],
    ['has only other words', { realm_access: { roles: ['admin', 'groups', 'app/groups:read', 'groups:read:all'] } }],
    ['has none under exactly this name', { 'realm_access.roles': [], realm_access: { roles: ['groups:read'] } }],
  ])('grants none if it %s', async (_, claims) => {
    expect(await outcomeFor(claims)).toBe('FORBIDDEN');
  });

  it.each<[string, Claims]>([
    ['is in a list', { realm_access: [{ roles: ['groups:read'] }] }],
    ['is an object', { realm_access: { roles: { 'groups:read': true } } }],
    ['is a list of lists', { realm_access: { roles: [['groups:read']] } }],
  ])('is rejected if it %s', async (_, claims) => {
    expect(await outcomeFor(claims)).toBe('TOKEN_INVALID');
  });
});
