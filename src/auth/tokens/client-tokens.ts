// Issues client tokens to servers for their frontends, and derives the keys from secrets.

import { createHmac, randomUUID } from 'node:crypto';
import type { JWK, JWTHeaderParameters } from 'jose';
import { z } from 'zod';
import { refuse } from '../../errors/codes.ts';
import type { SecretFiles } from '../../files/secret-files.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { isScope, type Scope } from '../../settings/scopes.ts';
import { CLIENT_TOKEN_ISSUER, type ClientTokenSettings } from '../../settings/settings.ts';
import type { TenantKeys } from '../tenants.ts';

/** Signature algorithm of client tokens: with a shared secret, because only the gateway signs and verifies them. */
export const CLIENT_TOKEN_ALGORITHM = 'HS256';

export type ClientTokens = ReturnType<typeof createClientTokens>;

/** Maximum documents per token, because a token is sent in a header. */
const MAX_DOCUMENTS = 50;

const DEFAULT_LIFETIME_SECONDS = 900;

const DOCUMENTS_PROBLEM = '"documents" must be a list of document ids';

const SCOPES_PROBLEM = '"scopes" must be a list of scopes such as "groups:read"';

function createBodySchema(maxLifetimeSeconds: number) {
  const lifetime = `"expiresInSeconds" must be a whole number from 1 to ${maxLifetimeSeconds}`;
  return z.strictObject(
    {
      scopes: z
        .array(z.string().refine(isScope, SCOPES_PROBLEM), '"scopes" must be a list')
        .nonempty('"scopes" must contain at least one scope'),
      documents: z
        .array(z.string(DOCUMENTS_PROBLEM), DOCUMENTS_PROBLEM)
        .nonempty('"documents" must contain at least one id; leave it out to permit all trusted documents')
        .max(MAX_DOCUMENTS, `"documents" must contain at most ${MAX_DOCUMENTS} ids`)
        .optional(),
      expiresInSeconds: z
        .int(lifetime)
        .min(1, lifetime)
        .max(maxLifetimeSeconds, lifetime)
        .default(Math.min(DEFAULT_LIFETIME_SECONDS, maxLifetimeSeconds)),
      subject: z
        .string('"subject" must be a string')
        .min(1, '"subject" must not be empty')
        .max(128, '"subject" must have at most 128 characters')
        .optional(),
    },
    {
      error: ({ code }) =>
        code === 'unrecognized_keys'
          ? 'the body has an unknown member; use only "scopes", "documents", "expiresInSeconds" and "subject"'
          : 'the body must be a JSON object',
    },
  );
}

/** @param documentOf returns the SHA-256 of the trusted document with this id, or undefined */
export function createClientTokens(
  { maxLifetimeSeconds, rateLimit }: ClientTokenSettings,
  keys: ClientTokenKeys,
  tenantKeys: TenantKeys,
  ceiling: ReadonlySet<Scope>,
  documentOf: (id: string) => string | undefined,
  now: () => Date,
) {
  const body = createBodySchema(maxLifetimeSeconds);

  return {
    tenantKeys,
    /** Rate limit per tenant. All requests without a known tenant share one limit. */
    rateLimit,
    /**
     * Signs a token for the tenant. The result is the response to the server, with the `subject` for the log. JSON leaves out what is undefined.
     *
     * @param request parsed body of the request
     * @throws {Refusal} BAD_USER_INPUT or FORBIDDEN, with a message for the developer of the server
     */
    issue(tenant: string, request: unknown) {
      const parsed = body.safeParse(request);
      if (!parsed.success) {
        const problems = [...new Set(parsed.error.issues.map(({ message }) => message))].join('; ');
        throw refuse('BAD_USER_INPUT', `Token refused: ${problems}.`);
      }
      const { expiresInSeconds, subject } = parsed.data;
      const scopes = [...new Set(parsed.data.scopes)];
      const denied = scopes.filter((scope) => !ceiling.has(scope));
      if (denied.length > 0) {
        throw refuse(
          'FORBIDDEN',
          `Token refused: ${denied.join(', ')} ${denied.length > 1 ? 'are' : 'is'} not in clients.browser.scopes.`,
        );
      }
      const documents = parsed.data.documents?.map((id) => {
        const document = documentOf(id);
        if (document === undefined) {
          throw refuse(
            'BAD_USER_INPUT',
            'Token refused: "documents" contains an id that is in no manifest of this gateway.',
          );
        }
        return document;
      });

      const { id, secret } = keys.signing();
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expiresAt = issuedAt + expiresInSeconds;
      const claims = {
        tenant,
        scope: scopes.join(' '),
        upstream: tenantKeys.upstreamOf(tenant),
        documents,
        iss: CLIENT_TOKEN_ISSUER,
        aud: CLIENT_TOKEN_ISSUER,
        sub: subject ?? '',
        iat: issuedAt,
        exp: expiresAt,
        jti: randomUUID(),
      };
      return {
        subject,
        token: signToken({ alg: CLIENT_TOKEN_ALGORITHM, typ: 'JWT', kid: id }, claims, secret),
        tokenType: 'Bearer',
        expiresAt: new Date(expiresAt * 1000).toISOString(),
        expiresInSeconds,
        tenant,
        scopes,
        documents, // The SHA-256 of each.
      };
    },
  };
}

export type ClientTokenKeys = ReturnType<typeof createClientTokenKeys>;

type ClientTokenKey = ReturnType<typeof toKey>;

/** Signs with HS256 (RFC 7515, 5.1). In a test with jsdom, jose rejects the bytes that it gets from the page's `TextEncoder`. */
function signToken(header: object, claims: object, secret: string): string {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/**
 * Derives the keys of client tokens from their secrets.
 *
 * @param files at least one secret; removing a secret invalidates the tokens signed with it
 */
export function createClientTokenKeys(files: SecretFiles) {
  const keysOf = memoizeByObject((secrets: ReadonlyMap<string, string>) => [...secrets.values()].map(toKey));

  function findKey(isWanted: (key: ClientTokenKey) => boolean): ClientTokenKey {
    const key = keysOf(files.secrets()).find(isWanted);
    if (key === undefined) {
      throw new Error('unknown key');
    }
    return key;
  }

  return {
    /** Returns the current signing key: the first. */
    signing: () => findKey(() => true),
    /** Finds the key of a token by its `kid`. */
    find: (header: JWTHeaderParameters): JWK => findKey(({ id }) => id === header.kid).jwk,
  };
}

const toKey = (secret: string) => ({
  /** Identifies the key without revealing anything of the secret. */
  id: createHmac('sha256', secret).update('notigraph client token key').digest('hex').slice(0, 16),
  secret,
  /** For jose, which doesn't recognize bytes in a test with jsdom: the page has a class `Uint8Array` of its own. */
  jwk: { kty: 'oct', k: Buffer.from(secret).toString('base64url') },
});
