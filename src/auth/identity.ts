// Defines identities and credentials, and the rules for each kind of client.

import type { Scope } from '../settings/scopes.ts';
import type { ClientKindSettings, GatewaySettings, RateLimit, TrustedDocumentsMode } from '../settings/settings.ts';

/**
 * Kind of client. `server` sends the service's API key, `browser` a signed token. `anonymous` sends no credential and gets nothing that
 * requires a scope.
 */
export type ClientKind = 'server' | 'browser' | 'anonymous';

/** Caller of a request and its permissions. */
export interface Identity {
  readonly clientKind: ClientKind;
  /** API key for calls of the service; undefined if it cannot be called. */
  readonly credential: Credential | undefined;
  /** Name of the only upstream that the credential may be sent to; undefined if there is only one, or it is not selected yet. */
  readonly upstreamName?: string | undefined;
  readonly scopes: ReadonlySet<Scope> | 'all';
  /** Scopes that its token names, but the configuration doesn't permit. @default none */
  readonly withheldScopes?: ReadonlySet<Scope>;
  /** SHA-256 of the only documents it may send; undefined if only the mode of its kind of client applies. */
  readonly documents?: ReadonlySet<string> | undefined;
  /** Name of the tenant; undefined for servers, which send only a key. */
  readonly tenant?: string;
  /** User, for rate limits, idempotency keys, the audit log, and records of which a token reaches only its own; undefined if the token names none. */
  readonly subject?: string | undefined;
  /** Issuer of its token, for the audit log: two can give one subject to different people. Undefined for servers. */
  readonly issuer?: string;
  /** Identifies the caller for rate limits and idempotency keys; never returned or logged. Of a token, the person, or the tenant if it has no subject. */
  readonly callerId: string;
}

/** Person who is signed in at the host. */
interface HostSession {
  /** Name of a tenant of `clients.browser`. The service is called with its API key. */
  tenant: string;
  /** Id of the person: of the rate limit, idempotency keys, lines of the audit log, and the subscriber whose inbox it is. */
  subject: string;
  /** Scopes of the person. Those that `clients.browser.scopes` doesn't list have no effect. */
  scopes: readonly string[];
}

/** Result of `authenticate`; undefined or null without a session. */
export type SessionResult = HostSession | null | undefined;

export const ANONYMOUS: Identity = {
  clientKind: 'anonymous',
  credential: undefined,
  scopes: new Set(),
  callerId: 'anonymous',
};

/**
 * Whether the credential of an operation is verified, so that nobody else can fill counts and the log with what they make up. An API key is verified only
 * once the service has accepted it.
 *
 * @param calls number of its calls
 * @param hasFailed whether it has errors
 */
export const isVerified = (identity: Identity | undefined, calls: number, hasFailed: boolean): boolean =>
  identity?.clientKind === 'browser' || (identity?.clientKind === 'server' && calls > 0 && !hasFailed);

/** `Authorization` header with an API key, checked for form and forwarded as it is here. It is a secret: never log or return it. */
export type Credential = string & { readonly __brand: 'Credential' };

/** `ApiKey`, one space, then the key: visible ASCII without spaces (contract, section 5). The length is limited because keys are cached. */
const WELL_FORMED = /^ApiKey [\x21-\x7e]{1,2048}$/;

/** Whether a header value is an API key in the form that the service accepts. */
export const isCredential = (header: string): header is Credential => WELL_FORMED.test(header);

/** Returns an `Authorization` header with its scheme in one form, so that it is one credential: schemes have no case (RFC 9110, 11.1). */
export const normalizeScheme = (authorization: string): string =>
  authorization.startsWith('ApiKey ') || authorization.startsWith('Bearer ')
    ? authorization // Nearly always, and cheaper than the expression.
    : authorization.replace(/^(?:apikey|bearer) /i, (scheme) => (/^a/i.test(scheme) ? 'ApiKey ' : 'Bearer '));

/** Reasons for rejecting a credential. They tell the client what to do, but nothing about keys, tenants or other tokens. */
const MESSAGES = {
  CREDENTIAL_MALFORMED: 'The Authorization header is malformed.',
  CREDENTIAL_NOT_ACCEPTED: 'This gateway does not accept this kind of credential.',
  TOKEN_INVALID: 'The token is invalid. Sign in again.',
  TOKEN_EXPIRED: 'The token has expired. Get a new one.',
  TOKEN_NOT_YET_VALID: 'The token is not valid yet.',
  TOKEN_FOR_ANOTHER: 'The token was not issued for this gateway.',
  TENANT_UNKNOWN: 'The token contains no tenant that this gateway knows.',
  KEYS_UNAVAILABLE:
    "The issuer's signing keys are unavailable, so the token cannot be verified. Try again in a moment.",
} as const;

export type AuthenticationReason = keyof typeof MESSAGES;

/** Claim of a token that is for another gateway. For the log, because the response doesn't say which one it is. */
export interface ClaimMismatch {
  claim: string;
  found: string | readonly string[] | undefined;
  expected: readonly string[];
}

/** Error of a credential that is invalid, or that can't be verified at the moment (KEYS_UNAVAILABLE). */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';
  readonly reason: AuthenticationReason;
  /** Only with TOKEN_FOR_ANOTHER. */
  readonly mismatch: ClaimMismatch | undefined;

  constructor(
    reason: AuthenticationReason,
    options?: ErrorOptions & { message?: string; mismatch?: ClaimMismatch | undefined },
  ) {
    super(options?.message ?? MESSAGES[reason], options);
    this.reason = reason;
    this.mismatch = options?.mismatch;
  }
}

export interface ClientRules {
  trustedDocuments: TrustedDocumentsMode;
  origins: ReadonlySet<string>;
  /** Setting to which a missing origin is added. */
  originsSetting: 'clients.server.corsOrigins' | 'clients.browser.corsOrigins';
  rateLimit: RateLimit | undefined;
  /** Whether REST calls may not be shown, by `clients.browser.explain`. */
  hidesCalls: boolean;
}

export type RulesByClientKind = Readonly<Record<ClientKind, ClientRules>>;

/** Modes from the most permissive to the strictest. */
const MODES: readonly TrustedDocumentsMode[] = ['off', 'log', 'enforce'];

export function createClientRules({ clients }: Pick<GatewaySettings, 'clients'>): RulesByClientKind {
  const toRules = (kind: 'server' | 'browser', hidesCalls: boolean, settings?: ClientKindSettings): ClientRules => ({
    trustedDocuments: settings?.trustedDocuments ?? 'off',
    origins: new Set(settings?.corsOrigins),
    originsSetting: `clients.${kind}.corsOrigins`,
    rateLimit: settings?.rateLimit,
    hidesCalls,
  });
  const server = toRules('server', false, clients.server || undefined); // Servers can send the calls themselves.
  const browser = toRules('browser', clients.browser?.explain === false, clients.browser);
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
