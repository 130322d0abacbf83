import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { AudienceOptions, AudiencesOptions, TrustedDocumentsMode } from './audience-options.ts';
import type { Audience } from './identity.ts';

/** How an audience is served. */
export interface AudiencePolicy {
  trustedDocuments: TrustedDocumentsMode;
  /** Whose pages may call. */
  origins: ReadonlySet<string>;
  rateLimit: RateLimit | undefined;
}

export type AudiencePolicies = Readonly<Record<Audience, AudiencePolicy>>;

/** From the loosest to the strictest. */
const MODES: readonly TrustedDocumentsMode[] = ['off', 'log', 'enforce'];

/** @param everywhere origins that every audience has */
export function createPolicies({ server, browser }: AudiencesOptions, everywhere: readonly string[]): AudiencePolicies {
  const toPolicy = ({
    corsOrigins = [],
    trustedDocuments = 'off',
    rateLimit,
  }: AudienceOptions = {}): AudiencePolicy => ({
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
