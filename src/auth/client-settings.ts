import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { ClientKindOptions, ClientsOptions, TrustedDocumentsMode } from './client-options.ts';
import type { ClientKind } from './identity.ts';

/** How a kind of client is served. */
export interface ClientSettings {
  trustedDocuments: TrustedDocumentsMode;
  /** Whose pages may call. */
  origins: ReadonlySet<string>;
  rateLimit: RateLimit | undefined;
}

export type ClientSettingsByKind = Readonly<Record<ClientKind, ClientSettings>>;

/** From the loosest to the strictest. */
const MODES: readonly TrustedDocumentsMode[] = ['off', 'log', 'enforce'];

/** @param everywhere origins that every kind of client has */
export function resolveClientSettings(
  { server, browser }: ClientsOptions,
  everywhere: readonly string[],
): ClientSettingsByKind {
  const toPolicy = ({
    corsOrigins = [],
    trustedDocuments = 'off',
    rateLimit,
  }: ClientKindOptions = {}): ClientSettings => ({
    trustedDocuments,
    origins: new Set([...everywhere, ...corsOrigins]),
    rateLimit,
  });
  const policies = {
    server: toPolicy(server || {}),
    browser: toPolicy(browser),
  };
  const all = Object.values(policies);
  return {
    ...policies,
    // Whoever leaves the token out must not come further than with it.
    anonymous: {
      trustedDocuments:
        all.map(({ trustedDocuments: mode }) => mode).sort((a, b) => MODES.indexOf(b) - MODES.indexOf(a))[0] ?? 'off',
      origins: new Set(all.flatMap(({ origins }) => [...origins])),
      rateLimit: undefined,
    },
  };
}
