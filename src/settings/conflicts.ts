import type { Settings } from './settings.ts';

/** Settings that belong together. */
export type AccessSettings = Pick<Settings, 'clients' | 'clientTokens' | 'trustedDocuments'>;

/** Returns the settings that contradict each other or miss another one, as a clause each. */
export function findConflicts({ clients, clientTokens, trustedDocuments }: AccessSettings): string[] {
  const { server, browser } = clients;
  const issuers = browser?.issuers.map(({ issuer }) => issuer) ?? [];
  const own = clientTokens?.issuer;
  const isRestricted = [server, browser].some((client) => client && client.trustedDocuments !== 'off');
  const rules: [isBroken: boolean, clause: string][] = [
    [
      browser !== undefined && issuers.length === 0 && own === undefined,
      'clients.browser needs issuers, or clientTokens at the top level',
    ],
    [
      browser !== undefined && browser.tenants === undefined && browser.tenantKeys === undefined,
      'clients.browser needs tenants, or tenantKeys with their directory',
    ],
    [new Set(issuers).size < issuers.length, 'clients.browser.issuers contains the same issuer twice'],
    [browser === undefined && own !== undefined, 'clientTokens needs clients.browser, which accepts the tokens'],
    [own !== undefined && issuers.includes(own), 'clientTokens.issuer must differ from the names of other issuers'],
    [
      isRestricted && trustedDocuments.manifests.length === 0,
      'trustedDocuments.manifests must contain at least one manifest',
    ],
  ];
  return rules.flatMap(([isBroken, clause]) => (isBroken ? [clause] : []));
}
