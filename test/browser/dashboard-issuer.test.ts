import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { startIssuer, TOKEN_AUDIENCE } from '../../examples/dashboard/dev/issuer.ts';

const ORIGIN = 'http://localhost:5173';

const askToken = (url: string, person: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ person }),
  });

describe('the development issuer', () => {
  it('issues a token that its published key verifies, with the lifetime that it reports', async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN], tokenSeconds: 90 });
    const { token, expiresAt, ...answer } = await (await askToken(issuer.url, 'ben')).json();
    expect(answer).toEqual({
      expiresInSeconds: 90,
      person: 'ben',
      name: 'Ben Osei',
      tenant: 'juniper',
      scopes: ['stats:read', 'workflows:read', 'groups:read'],
    });
    const keys = createRemoteJWKSet(new URL(`${issuer.url}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: issuer.url,
      audience: TOKEN_AUDIENCE,
      algorithms: ['ES256'],
    });
    expect(protectedHeader.alg).toBe('ES256');
    expect(payload).toMatchObject({
      sub: 'ben',
      tenant: 'juniper',
      scope: 'stats:read workflows:read groups:read',
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(90);
    expect(Date.parse(expiresAt) / 1000).toBe(payload.exp);
  });

  it('publishes only the public half of its key', async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN] });
    const { keys } = await (await fetch(`${issuer.url}/.well-known/jwks.json`)).json();
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  it('signs with another key after a rotation and no longer publishes the old one', async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN] });
    const before = (await (await askToken(issuer.url, 'ada')).json()).token;
    await issuer.rotate();
    const after = (await (await askToken(issuer.url, 'ada')).json()).token;
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    const keys = createLocalJWKSet(await (await fetch(`${issuer.url}/.well-known/jwks.json`)).json());
    await jwtVerify(after, keys);
    await expect(jwtVerify(before, keys)).rejects.toThrow();
  });

  it('issues no token to a person who is unknown or refused', async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN] });
    issuer.refuse('ada');
    for (const person of ['ada', 'nobody', '', null, { id: 'ben' }, ['ben']]) {
      const response = await askToken(issuer.url, person);
      expect(response.status).toBe(403);
      expect(await response.json()).not.toHaveProperty('token');
    }
    const broken = await fetch(`${issuer.url}/token`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(403);
    issuer.admit('ada');
    expect((await askToken(issuer.url, 'ada')).status).toBe(200);
  });

  it("serves only the app's pages and requests without an origin", async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN] });
    const own = await fetch(`${issuer.url}/people`, { headers: { origin: ORIGIN } });
    expect(own.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(own.headers.get('access-control-allow-credentials')).toBeNull();
    for (const origin of ['http://localhost:5174', 'https://localhost:5173', 'null', 'http://evil.example']) {
      const answers = [
        await askToken(issuer.url, 'ada', { origin }),
        await fetch(`${issuer.url}/token`, { method: 'OPTIONS', headers: { origin } }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(await answer.text()).not.toContain('token');
      }
    }
  });

  it('listens on the loopback interface only', async () => {
    await using issuer = await startIssuer({ origins: [ORIGIN] });
    expect(new URL(issuer.url).hostname).toBe('127.0.0.1');
  });
});
