import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { AudienceOptions, AudiencesOptions, TrustedDocumentsMode } from './audience-options.ts';
import type { Audience } from './identity.ts';

/** Rules for one kind of client. */
export interface AudiencePolicy {
  trustedDocuments: TrustedDocumentsMode;
  /** Allowed CORS origins. */
  origins: ReadonlySet<string>;
  rateLimit: RateLimit | undefined;
}

export type AudiencePolicies = Readonly<Record<Audience, AudiencePolicy>>;

/** Modes from the loosest to the strictest. */
const MODES: readonly TrustedDocumentsMode[] = ['off', 'log', 'enforce'];

/**
 * Creates the rules for all kinds of client.
 *
 * @param everywhere origins that are allowed for every kind
 */
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
    // Leaving out the token must not permit more than sending it.
    anonymous: {
      trustedDocuments:
        all.map(({ trustedDocuments: mode }) => mode).sort((a, b) => MODES.indexOf(b) - MODES.indexOf(a))[0] ?? 'off',
      origins: new Set(all.flatMap(({ origins }) => [...origins])),
      rateLimit: undefined,
    },
  };
}
