import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { SCOPES, type Scope } from '../settings/scopes.ts';
import type { ClientTokenKeys } from './client-token-keys.ts';
import type { Credential } from './credentials.ts';
import type { TenantKeys } from './tenant-keys.ts';

/** The algorithm of client tokens: the gateway alone signs and checks them. */
export const CLIENT_TOKEN_ALGORITHM = 'HS256';

/** What a server is given for its frontend. */
export interface ClientToken {
  token: string;
  tokenType: 'Bearer';
  /** When it stops being valid, in ISO 8601. */
  expiresAt: string;
  expiresInSeconds: number;
  tenant: string;
  scopes: readonly Scope[];
  /** The only documents that it permits, by the SHA-256 of their text; where it is restricted. */
  documents?: readonly string[];
}

/** Why none is given: one sentence for the developer of that server. */
export class ClientTokenRefusal extends Error {
  override readonly name = 'ClientTokenRefusal';
  readonly code: 'BAD_USER_INPUT' | 'FORBIDDEN';

  constructor(code: ClientTokenRefusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface ClientTokensOptions {
  keys: ClientTokenKeys;
  tenantKeys: TenantKeys;
  /** The claims `iss` and `aud`. */
  issuer: string;
  /** The most that any token can permit. */
  ceiling: ReadonlySet<Scope>;
  maxLifetimeSeconds: number;
  /** The SHA-256 of the document that has this id; undefined: there is none. */
  documentOf: (id: string) => string | undefined;
  now: () => Date;
}

export interface ClientTokens {
  /** Whose key it is; undefined: of no tenant of this gateway. */
  tenantOf(credential: Credential): string | undefined;
  /**
   * Signs a token for the tenant.
   *
   * @param request the request's parsed body
   * @throws {ClientTokenRefusal}
   */
  issue(tenant: string, request: unknown): Promise<ClientToken>;
}

/** Documents that one token can name; it travels in a header. */
const MAX_DOCUMENTS = 50;

const DEFAULT_LIFETIME_SECONDS = 900;

export function createClientTokens(options: ClientTokensOptions): ClientTokens {
  const { keys, tenantKeys, issuer, ceiling, maxLifetimeSeconds, documentOf, now } = options;
  const lifetime = `"expiresInSeconds" must be a whole number from 1 to ${maxLifetimeSeconds}`;
  const body = z.strictObject(
    {
      scopes: z
        .array(z.enum(SCOPES, `"scopes" must be a list of: ${SCOPES.join(', ')}`), '"scopes" must be a list')
        .nonempty('"scopes" must name one scope or more'),
      documents: z
        .array(z.string('"documents" must be a list of document ids'), '"documents" must be a list of document ids')
        .nonempty('"documents" must name one document or more; leave it out to permit every trusted document')
        .max(MAX_DOCUMENTS, `"documents" can name ${MAX_DOCUMENTS} documents at most`)
        .optional(),
      expiresInSeconds: z
        .int(lifetime)
        .min(1, lifetime)
        .max(maxLifetimeSeconds, lifetime)
        .default(Math.min(DEFAULT_LIFETIME_SECONDS, maxLifetimeSeconds)),
      subject: z
        .string('"subject" must be a text')
        .min(1, '"subject" must not be empty')
        .max(128, '"subject" can have 128 characters at most')
        .optional(),
    },
    {
      error: ({ code }) =>
        code === 'unrecognized_keys'
          ? 'there is a member besides "scopes", "documents", "expiresInSeconds" and "subject"'
          : 'the body must be a JSON object',
    },
  );

  return {
    tenantOf: (credential) => tenantKeys.tenantOf(credential),
    async issue(tenant, request) {
      const parsed = body.safeParse(request);
      if (!parsed.success) {
        const problems = [...new Set(parsed.error.issues.map(({ message }) => message))].join('; ');
        throw new ClientTokenRefusal('BAD_USER_INPUT', `No token: ${problems}.`);
      }
      const { expiresInSeconds, subject } = parsed.data;
      const scopes = [...new Set(parsed.data.scopes)];
      const denied = scopes.filter((scope) => !ceiling.has(scope));
      if (denied.length > 0) {
        throw new ClientTokenRefusal('FORBIDDEN', `No token: this gateway lets no browser have ${denied.join(', ')}.`);
      }
      const documents = parsed.data.documents?.map((id) => {
        const document = documentOf(id);
        if (document === undefined) {
          throw new ClientTokenRefusal(
            'BAD_USER_INPUT',
            'No token: "documents" names a document that is in no manifest of this gateway.',
          );
        }
        return document;
      });

      const { id, secret } = keys.signing();
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expiresAt = issuedAt + expiresInSeconds;
      const token = await new SignJWT({ tenant, scope: scopes.join(' '), ...(documents && { documents }) })
        .setProtectedHeader({ alg: CLIENT_TOKEN_ALGORITHM, typ: 'JWT', kid: id })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject(subject ?? '')
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(randomUUID())
        .sign(secret);
      return {
        token,
        tokenType: 'Bearer',
        expiresAt: new Date(expiresAt * 1000).toISOString(),
        expiresInSeconds,
        tenant,
        scopes,
        ...(documents && { documents }),
      };
    },
  };
}
