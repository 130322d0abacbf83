import type { ClientsOptions } from '../../auth/client-options.ts';
import type { GatewayOptions } from '../../gateway.ts';
import type { AccessSettings } from './access-settings.ts';

/** Whom the gateway serves and how, as the configuration file says. */
export interface Access extends Required<Pick<GatewayOptions, 'trustedDocuments' | 'rateLimits'>> {
  clients: ClientsOptions;
  /** @default 10 */
  reloadSeconds?: number;
}

/** Servers alone, with their keys. */
export const SERVERS_ALONE: Access = { clients: {}, trustedDocuments: { manifests: [] }, rateLimits: {} };

/** Turns the settings into options of the gateway. */
export function toAccess(settings: AccessSettings): Access {
  const { clients, clientTokens, trustedDocuments, rateLimits, reloadSeconds } = settings;
  const { server, browser } = clients;
  const { tenants, tenantKeys, ...others } = browser ?? {};
  return {
    clients: {
      server: server?.enabled === false ? false : (server ?? {}),
      browser: browser && {
        ...others,
        tenants: tenants && Object.fromEntries(Object.entries(tenants).map(([name, { key }]) => [name, key])),
        tenantKeysDirectory: tenantKeys?.directory,
        clientTokens,
      },
    },
    trustedDocuments,
    rateLimits: rateLimits.store,
    ...(reloadSeconds !== undefined && { reloadSeconds }),
  };
}

/** What does not fit together, a clause each. */
export function findAccessProblems(settings: AccessSettings): string[] {
  const { clients, clientTokens, trustedDocuments } = settings;
  const { server, browser } = clients;
  const problems: string[] = [];
  const check = (isFine: boolean, problem: string) => {
    if (!isFine) {
      problems.push(problem);
    }
  };
  const issuers = browser?.issuers.map(({ issuer }) => issuer) ?? [];
  const own = clientTokens?.issuer;
  if (browser !== undefined) {
    check(issuers.length > 0 || own !== undefined, 'clients.browser needs issuers, or clientTokens beside it');
    check(
      browser.tenants !== undefined || browser.tenantKeys !== undefined,
      'clients.browser needs tenants, or tenantKeys with their directory',
    );
    check(new Set(issuers).size === issuers.length, 'clients.browser.issuers has an issuer twice');
  }
  check(browser !== undefined || own === undefined, 'clientTokens needs clients.browser, which the tokens are for');
  check(
    own === undefined || !issuers.includes(own),
    "clientTokens.issuer is another issuer's name: give the gateway its own",
  );
  const restricts = [server, browser].some((client) => client && client.trustedDocuments !== 'off');
  check(!restricts || trustedDocuments.manifests.length > 0, 'trustedDocuments.manifests must name a manifest or more');
  return problems;
}
