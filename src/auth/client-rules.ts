import type { ClientKindSettings, TrustedDocumentsMode } from '../settings/clients.ts';
import type { RateLimit } from '../settings/rate-limits.ts';
import type { Settings } from '../settings/settings.ts';
import type { ClientKind } from './identity.ts';

/** Rules for one kind of client. */
export interface ClientRules {
  trustedDocuments: TrustedDocumentsMode;
  /** Allowed CORS origins. */
  origins: ReadonlySet<string>;
  /** Setting to which a missing origin is added. */
  originsSetting: OriginsSetting;
  rateLimit: RateLimit | undefined;
  /** Setting that hides REST calls; undefined if they may be shown. */
  hidesCalls: ExplainSetting | undefined;
}

/** Setting that decides whether REST calls may be shown. Servers can send them themselves. */
export type ExplainSetting = 'clients.browser.explain';

/** Setting with allowed CORS origins. */
type OriginsSetting = 'clients.server.corsOrigins' | 'clients.browser.corsOrigins';

/** Rules for all kinds of clients. */
export type RulesByClientKind = Readonly<Record<ClientKind, ClientRules>>;

/** Modes from the most permissive to the strictest. */
const MODES: readonly TrustedDocumentsMode[] = ['off', 'log', 'enforce'];

/** Creates the rules for each kind of client. */
export function createClientRules({ clients }: Pick<Settings, 'clients'>): RulesByClientKind {
  const toRules = (kind: 'server' | 'browser', settings?: ClientKindSettings): ClientRules => ({
    trustedDocuments: settings?.trustedDocuments ?? 'off',
    origins: new Set(settings?.corsOrigins),
    originsSetting: `clients.${kind}.corsOrigins`,
    rateLimit: settings?.rateLimit,
    hidesCalls: undefined,
  });
  const server = toRules('server', clients.server || undefined);
  const browser: ClientRules = {
    ...toRules('browser', clients.browser),
    hidesCalls: clients.browser?.explain === false ? 'clients.browser.explain' : undefined,
  };
  const strictness = Math.max(...[server, browser].map(({ trustedDocuments }) => MODES.indexOf(trustedDocuments)));
  return {
    server,
    browser,
    // Omitting the credential must not permit more than sending it.
    anonymous: {
      trustedDocuments: MODES[strictness] ?? 'enforce',
      origins: new Set([...server.origins, ...browser.origins]),
      originsSetting: (clients.browser === undefined ? server : browser).originsSetting,
      rateLimit: undefined,
      hidesCalls: browser.hidesCalls,
    },
  };
}
