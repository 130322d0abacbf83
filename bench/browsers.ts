import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { SCOPES } from '../src/settings/scopes.ts';
import { keyOf, POPULATION } from './ids.ts';
import { OURS, type Subject, variantOf } from './subjects.ts';

/** Settings of browser clients in the configuration file. */
export type BrowserSettings = { rateLimit?: { calls: number; perSeconds: number } };

const ISSUER = 'https://login.example.com';
const AUDIENCE = 'notigraph-bench';

/** Tenants with the keys of the workloads' credentials. */
const TENANTS = Array.from({ length: POPULATION }, (_, credential) => ({
  tenant: `tenant-${credential}`,
  variable: `BENCH_KEY_${credential}`,
  key: keyOf(credential),
}));

/** Returns Notigraph called by browser clients: the same requests, with a signed token instead of each credential's key. */
export async function calledByBrowsers(name: string, title: string, settings: BrowserSettings = {}): Promise<Subject> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const sign = (tenant: string) =>
    new SignJWT({ tenant, scope: SCOPES.join(' ') })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject('user-1')
      .setExpirationTime('1h')
      .sign(privateKey);
  const tokens = await Promise.all(TENANTS.map(({ tenant }) => sign(tenant)));
  const config = {
    clients: {
      browser: {
        issuers: [{ issuer: ISSUER, audience: AUDIENCE, publicKey: await exportSPKI(publicKey) }],
        scopes: SCOPES,
        tenants: Object.fromEntries(TENANTS.map(({ tenant, variable }) => [tenant, { env: variable }])),
        ...settings,
      },
    },
  };
  const keys = Object.fromEntries(TENANTS.map(({ variable, key }) => [variable, key]));
  const authorization = (credential: number) => `Bearer ${tokens[credential % tokens.length]}`;
  return {
    ...variantOf(OURS, { env: { NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config), ...keys } }),
    name,
    title,
    requests: Object.fromEntries(
      Object.entries(OURS.requests).map(([workload, request]) => [workload, { ...request, authorization }]),
    ),
  };
}
