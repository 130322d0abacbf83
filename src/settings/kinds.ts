// Secrets, files, addresses: values with a kind. Their schemas declare it, and everything that treats such values in its own way asks for it.

import { z } from 'zod';
import { checkEach, createSecretFiles, type FindProblem, type Secret, SecretError } from '../files/secret-files.ts';
import { isDecodable } from '../lib/urls.ts';
import { group, HEADER_VALUE, offOr, setting, text, textThat } from './define.ts';

/** Secrets of the gateway: their names in messages, and their minimum lengths. */
export const OWN_SECRETS = {
  cacheSecret: { title: 'the secret of the cache', minLength: 32 },
  clientTokenSecret: { title: 'a secret of client tokens', minLength: 32 }, // A digest of HS256 (RFC 7518, 3.2).
  logSecret: { title: 'the secret of the log', minLength: 16 },
  routerSecret: { title: 'the secret of the router', minLength: 32 },
} as const;

type OwnSecret = keyof typeof OWN_SECRETS;

/**
 * Kinds of values, with their category. In a configuration file,
 * - a `secret` must be a reference, such as `{ env: ACME_KEY }` or `{ file: /run/secrets/acme }`
 * - a `text` can be in a file of its own, as a `secret` can: a certificate is `{ file: ca.pem }`
 * - an `address` must not contain a password, as `rediss://:password@cache:6379` does. It can be in a file only if its setting has that form too
 * - a `path` is relative to that file
 * - an `inline` secret may be in the file itself, because its setting shares it anyway: GraphiQL sends its key to each visitor
 * - a `section` needs something outside of the configuration: `mcp` needs a package
 */
const KINDS = {
  cacheSecret: 'secret',
  clientTokenSecret: 'secret',
  logSecret: 'secret',
  routerSecret: 'secret',
  tenantKey: 'secret',
  clientKey: 'secret',
  publicKey: 'text',
  certificate: 'text',
  redisCertificate: 'text',
  upstreamHeader: 'text',
  proxy: 'address',
  redisUrl: 'address',
  file: 'path',
  tenantFolder: 'path',
  manifest: 'path',
  module: 'path',
  sandbox: 'path',
  graphiqlKey: 'inline',
  auditLog: 'section',
  redis: 'section',
  mcp: 'section',
} as const satisfies Record<string, 'secret' | 'text' | 'address' | 'path' | 'inline' | 'section'>;

export type Kind = keyof typeof KINDS;

type KindOf<Category> = { [Name in Kind]: (typeof KINDS)[Name] extends Category ? Name : never }[Kind];

const REGISTRY = z.registry<{ kind: Kind }>();

/** Declares the kind of a schema's values. */
export function ofKind<Schema extends z.ZodType>(kind: Kind, schema: Schema): Schema {
  REGISTRY.add(schema, { kind });
  return schema;
}

/** Returns the kind of a schema's values, and its category; undefined if they have none. A schema with further checks has the kind of the one without. */
export function declaredKind(schema: z.ZodType): { kind: Kind; category: (typeof KINDS)[Kind] } | undefined {
  const { kind } = REGISTRY.get(schema) ?? {};
  return kind && { kind, category: KINDS[kind] };
}

export const path = (kind: KindOf<'path'>) => ofKind(kind, text());

/** File that a setting refers to. */
export const file = () => group({ file: setting(path('file'), 'Path of the file.') });

/** Text, or the file that holds it. */
export const textOrFile = (problem: string) => z.union([text(), file()], problem);

const SOURCE = textOrFile('');

/** Returns the text or file that a value is; undefined if its form is invalid. */
export const sourceOf = (value: unknown): Secret | undefined => SOURCE.safeParse(value).data;

/** The secret itself, or the file that holds it. The configuration file accepts `{ env }` and `{ file }`. */
export const secret = (kind: KindOf<'secret'>) =>
  ofKind(kind, textOrFile('must be a secret: { env: NAME } or { file: PATH }'));

/** Secret of the gateway. A secret in a file is checked when it is read. */
export function ownSecret(kind: OwnSecret) {
  const { minLength } = OWN_SECRETS[kind];
  return secret(kind).refine(
    (value) => typeof value !== 'string' || value.length >= minLength,
    `must have at least ${minLength} characters`,
  );
}

/** Certificates in PEM, or the file that holds them. */
export const pem = (kind: 'certificate' | 'redisCertificate') =>
  ofKind(kind, textOrFile('must be PEM, { env: NAME } or { file: PATH }'));

/** Returns a problem of the first header whose value can't be sent. */
export const findHeaderProblem = checkEach((value, name) =>
  value !== '' && HEADER_VALUE.test(value) ? undefined : `the value of ${name} is not a single line of Latin-1`,
);

/** Returns the check of the length of a secret of the gateway. */
export function requireLength(kind: OwnSecret): FindProblem {
  const { title, minLength } = OWN_SECRETS[kind];
  return checkEach(({ length }) =>
    length < minLength ? `${title} is shorter than ${minLength} characters` : undefined,
  );
}

/** Reads a secret of the gateway, once. @throws {SecretError} if its file can't be read, or it is too short */
export function readSecret(kind: OwnSecret, source: Secret): string {
  const value = createSecretFiles({ secrets: { source } }, requireLength(kind)).secrets().get('source');
  if (value === undefined) {
    throw new SecretError(`${OWN_SECRETS[kind].title} is missing`);
  }
  return value;
}

/** Base address of the service: http or https, with or without a path prefix. Problems do not repeat the text, which may hold a secret. */
export const upstreamUrl = z
  .string('must be the base address of the service, such as https://notifications.example.com')
  .transform((address, context): string => {
    const url = URL.parse(address);
    const message =
      url === null
        ? 'must be a URL such as https://notifications.example.com'
        : URL_RULES.find(([isBroken]) => isBroken(url))?.[1];
    if (url === null || message !== undefined) {
      context.addIssue({ code: 'custom', message: message ?? '' });
      return z.NEVER;
    }
    return url.href;
  });

const URL_RULES: readonly [isBroken: (url: URL) => boolean, problem: string][] = [
  [({ protocol }) => !/^https?:$/.test(protocol), 'must begin with http:// or https://'],
  [
    ({ username, password }) => username + password !== '',
    'must not contain a user name or password; the API key comes with each request',
  ],
  [({ search, hash }) => search + hash !== '', 'must not have a query or fragment'],
  [({ pathname }) => /\/v1\/*$/.test(pathname), 'must not end in /v1; Notigraph adds it'],
];

const PROXY_PROBLEM = 'must be off, or the URL of a proxy such as http://proxy.example.com:3128';

/** Address of a proxy, which can contain a user name and a password. */
export const proxyAddress = offOr(
  'off' as const,
  ofKind('proxy', textThat(isProxyAddress, PROXY_PROBLEM)),
  PROXY_PROBLEM,
);

function isProxyAddress(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search + url.hash === '' &&
    isDecodable(url.username + url.password)
  );
}

/** Clause about a value that is no URL of a Redis server. */
export const REDIS_URL_FORM = 'must be a URL redis://… or rediss://…, { env: NAME } or { file: PATH }';

/** URL of a Redis server, which can contain a user name and a password. */
export const redisUrl = ofKind(
  'redisUrl',
  z.string(REDIS_URL_FORM).refine((url) => findRedisUrlProblem(url) === undefined, {
    error: ({ input }) => findRedisUrlProblem(String(input)),
  }),
);

/** Returns a problem of a Redis server's URL as a clause that doesn't quote it, or undefined. */
export function findRedisUrlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '' || parsed.port === '0') {
    return `${REDIS_URL_FORM}, such as redis://host:6379`;
  }
  if (!/^\/?\d{0,4}$/.test(parsed.pathname)) {
    return 'must end in a database number, such as /0, or have no path';
  }
  if (parsed.search !== '' || parsed.hash !== '') {
    return 'must not contain ? or #; write them as %3F and %23 in a password';
  }
  return isDecodable(parsed.username) && isDecodable(parsed.password)
    ? undefined
    : 'has a user name or password with a % that must be written as %25';
}
