import { z } from 'zod';
import { SIGNATURE_ALGORITHMS } from '../../auth/client-options.ts';
import { SCOPES } from '../../auth/scopes.ts';
import { isKeysAddress, isOrigin } from '../../lib/origins.ts';

/** Turns what the configuration file says into what the gateway takes: variables are looked up, paths are made whole. */
export interface SettingsSurroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** The whole path of one that may be relative. */
  locate(path: string): string;
}

/** A text of at least one character. */
const text = z.string('must be a text').min(1, 'must not be empty');

/** Settings by name, and no others: a misspelt one would silently leave a default in force. */
const section = <Shape extends z.ZodRawShape>(shape: Shape, problem = 'must hold settings by name') =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `has ${issue.keys.join(', ')}, which is no setting there` : problem,
  });

const positive = (problem = 'must be a number above 0') => z.number(problem).positive(problem);

const seconds = (min: number, max: number) => {
  const problem = `must be a whole number from ${min} to ${max}`;
  return z.int(problem).min(min, problem).max(max, problem);
};

const ORIGIN_PROBLEM = 'must be an origin such as https://app.example.com, without a path or a slash at its end';

const KEYS_ADDRESS_PROBLEM = 'must be an https address (http on this machine alone) without user name and password';

const PUBLIC_KEY_PROBLEM = 'must be PEM, { env: NAME } or { file: PATH }';

const AUDIENCE_PROBLEM = 'must be a text or a list of texts';

const REDIS_PROBLEM = 'must be redis://… or rediss://…, or { env: NAME } of a variable with it';

const SECRET_PROBLEM = 'must say where the secret is kept: { env: NAME } or { file: PATH }';

/** How sections of the file are read; a problem is a clause that follows the section's name. */
export function createAccessSettings({ env, locate }: SettingsSurroundings) {
  const path = text.transform(locate);
  const variable = section({ env: text }).transform(({ env: name }, ctx) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined || value === '') {
      ctx.addIssue({ code: 'custom', message: notSet(name) });
      return z.NEVER;
    }
    return value;
  });
  const file = section({ file: path });
  const secret = z.union([variable, file], {
    error: ({ input }) => (isVariable(input) ? notSet(input.env) : SECRET_PROBLEM),
  });

  const publicKey = z.union([text, variable, file], {
    error: ({ input }) => (isVariable(input) ? notSet(input.env) : PUBLIC_KEY_PROBLEM),
  });

  const redisUrl = z
    .union([text, variable], { error: ({ input }) => (isVariable(input) ? notSet(input.env) : REDIS_PROBLEM) })
    .refine((url) => /^rediss?:$/.test(URL.parse(url)?.protocol ?? ''), REDIS_PROBLEM);

  const rateLimit = section({
    calls: positive(),
    perSeconds: positive().default(60),
    burst: positive().min(1, 'must be 1 or more').optional(),
  });
  const clientKind = {
    corsOrigins: z
      .array(z.string(ORIGIN_PROBLEM).refine(isOrigin, ORIGIN_PROBLEM), 'must be a list of origins')
      .default([]),
    trustedDocuments: z
      .preprocess(offWhenFalse, z.enum(['off', 'log', 'enforce'], 'must be off, log or enforce'))
      .default('off'),
    rateLimit: rateLimit.optional(),
  };

  const switchable = z.preprocess(
    fromSwitch,
    section({ ...clientKind, enabled: z.boolean('must be true or false').default(true) }),
  );

  const issuer = section({
    issuer: text,
    audience: z.union([text, z.array(text, AUDIENCE_PROBLEM).nonempty(AUDIENCE_PROBLEM)], AUDIENCE_PROBLEM),
    jwks: z.string(KEYS_ADDRESS_PROBLEM).refine(isKeysAddress, KEYS_ADDRESS_PROBLEM).optional(),
    publicKey: publicKey.optional(),
    algorithms: z
      .array(z.enum(SIGNATURE_ALGORITHMS, `must be one of: ${SIGNATURE_ALGORITHMS.join(', ')}`), 'must be a list')
      .nonempty('must name one algorithm or more')
      .optional(),
    clockSkewSeconds: seconds(0, 300).default(5),
    tenantClaim: text.optional(),
    tenant: text.optional(),
    tenants: z.array(text, 'must be a list of tenants').nonempty('must name one tenant or more').optional(),
    scopeClaim: text.optional(),
  })
    .refine(
      ({ jwks, publicKey }) => (jwks === undefined) !== (publicKey === undefined),
      'needs either jwks or publicKey',
    )
    .refine(
      ({ tenant, tenantClaim, tenants }) =>
        tenant === undefined || (tenantClaim === undefined && tenants === undefined),
      'has a fixed tenant, so that tenantClaim and tenants have no meaning',
    );

  const browser = section({
    ...clientKind,
    issuers: z.array(issuer, 'must be a list').default([]),
    scopes: z.array(z.enum(SCOPES, `must be one of: ${SCOPES.join(', ')}`), 'must be a list').default([]),
    tenants: z.record(z.string(), section({ key: secret }), 'must hold tenants by name').optional(),
    tenantKeys: section({ directory: path }).optional(),
  });

  const clientTokens = section({
    issuer: text.default('notigraph'),
    secrets: z.array(secret, 'must be a list').nonempty('must hold one secret or more'),
    maxLifetimeSeconds: seconds(1, 3600).default(3600),
    rateLimit: rateLimit.optional(),
  });

  return section({
    clients: section({
      server: switchable.optional(),
      browser: browser.optional(),
    }).default({}),
    clientTokens: clientTokens.optional(),
    trustedDocuments: section({ manifests: z.array(path, 'must be a list of paths').default([]) }).default({
      manifests: [],
    }),
    rateLimits: section({
      store: z
        .preprocess(
          (value) => (value === 'memory' ? {} : value),
          section({ redis: section({ url: redisUrl }).optional() }, 'must be memory, or redis with its url'),
        )
        .default({}),
    }).default({ store: {} }),
    reloadSeconds: seconds(1, 86_400).optional(),
  });
}

export type AccessSettings = z.infer<ReturnType<typeof createAccessSettings>>;

/** YAML of an older version reads off as false, and on as true. */
const offWhenFalse = (value: unknown): unknown => (value === false ? 'off' : value);

/** `on` and `off` alone. */
function fromSwitch(value: unknown): unknown {
  switch (value) {
    case true:
    case 'on':
    case null:
      return {};
    case false:
    case 'off':
      return { enabled: false };
    default:
      return value;
  }
}

/** A name is repeated if it looks like one alone: somebody may have written the secret there. */
const notSet = (variable: string): string =>
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(variable)
    ? `needs the environment variable ${variable}, which is not set`
    : 'needs an environment variable that is not set: env must hold its name';

const isVariable = (input: unknown): input is { env: string } =>
  typeof input === 'object' && input !== null && 'env' in input && typeof input.env === 'string';
