import { expect, it, onTestFinished } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { addTo, blocks, load, read, startConfigured } from '../support/docs.ts';
import { signToken, startTestIssuer } from '../support/issuer.ts';

/** The last section is about errors. */
const SECTIONS = read('docs/identity-providers.md').split(/^## /m).slice(1, -1);

const PROVIDERS = SECTIONS.map((section) => {
  const [title = ''] = section.split('\n');
  return { title, yaml: blocks(section, 'yaml'), claims: blocks(section, 'json').at(-1) ?? '' };
});

it('docs/identity-providers.md has a section for each provider', () => {
  expect(PROVIDERS.map(({ title }) => title)).toEqual([
    'Auth0',
    'Clerk',
    'Supabase',
    'Keycloak',
    'Amazon Cognito',
    'Microsoft Entra ID',
  ]);
});

it.each(PROVIDERS)(
  'the settings for $title accept the token below them, within its scopes and tenant',
  async (provider) => {
    const { yaml, claims } = provider;
    const [documented = ''] = yaml;
    const settings = load(addTo(documented)).clients.browser?.issuers[0];
    const alg = settings?.algorithms[0] === 'RS256' ? 'RS256' : 'ES256';
    const issuer = await startTestIssuer({ alg });
    onTestFinished(() => issuer[Symbol.asyncDispose]());
    const jwks = String(settings?.jwks);
    const time = new Date((JSON.parse(claims).iat + 30) * 1000);
    const gateway = await startConfigured(addTo(documented.replace(jwks, issuer.jwks)), () => time);

    const send = async (text: string) => {
      const header = { alg, kid: issuer.key.kid, typ: 'JWT' };
      const authorization = `Bearer ${signToken(header, JSON.parse(text), issuer.key)}`;
      gateway.forget();
      const { status, body } = await gateway.send('{ notificationGroups { name } }', {}, { authorization });
      const { code, reason, scope } = body.errors?.[0]?.extensions ?? {};
      return {
        status,
        ...(body.errors && { error: reason ?? `${code} ${scope}` }),
        keys: gateway.upstream().map(({ headers }) => headers.authorization),
      };
    };

    expect(yaml).toHaveLength(1);
    expect(await send(claims)).toEqual({ status: 200, keys: [`ApiKey ${SANDBOX_KEYS.development}`] });
    expect(issuer.keyRequests).toBe(1);

    const without = claims.replaceAll('groups:read', 'groups:none');
    expect(await send(without)).toEqual({ status: 403, error: 'FORBIDDEN groups:read', keys: [] });

    // With a fixed tenant, no claim names it.
    const other = claims.replaceAll('"acme"', '"globex"');
    expect(other === claims).toBe(settings?.tenant === 'acme');
    if (other !== claims) {
      expect(await send(other)).toEqual({ status: 401, error: 'TENANT_UNKNOWN', keys: [] });
    }
  },
);
