import { isRecord } from '../../lib/is-record.ts';

/** Settings whose values are secrets. A configuration file must refer to a variable or file instead of containing them. */
const SECRETS = [
  /^cache\.secret$/,
  /^clients\.browser\.tenants\.[^.]+(?:\.key)?$/,
  /^clientTokens\.secrets\.\d+$/,
  /^federation\.routerSecret$/,
  /^logSecret$/,
  /^(?:upstreams\.[^.]+\.)?tls\.clientKey$/,
];

/** Settings whose values may contain a user name and a password, which must be in a variable. */
const ADDRESSES = [/^(?:upstreams\.[^.]+\.)?proxy$/, /^(?:cache|rateLimits)\.store\.redis\.url$/];

/** Settings that are paths, in addition to `{ file: PATH }`. */
const PATHS = [
  /^sandbox$/,
  /^clients\.browser\.tenantKeys\.directory$/,
  /^mcp\.manifest$/,
  /^trustedDocuments\.manifests\.\d+$/,
];

/** Values of `sandbox` that are not paths. */
const SWITCHES = /^(?::memory:|on|off|true|false|[01]?)$/i;

/** Form of variable names. Anything else may be a misplaced secret, so messages omit it. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

interface Resolved {
  values: Record<string, unknown>;
  /** Problems, each as a clause that follows the path. They never contain values. */
  problems: readonly { path: string; clause: string }[];
}

/**
 * Replaces `{ env: NAME }` with the value of the variable, and makes paths absolute.
 *
 * @param locate converts a path in the file to an absolute path
 */
export function resolveReferences(
  values: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
  locate: (path: string) => string,
): Resolved {
  const problems: { path: string; clause: string }[] = [];

  function visit(value: unknown, path: string): unknown {
    if (isReference(value)) {
      return readVariable(value.env, path);
    }
    if (Array.isArray(value)) {
      return value.map((item, i) => visit(item, `${path}.${i}`));
    }
    if (isRecord(value)) {
      const members = Object.entries(value).map(([name, member]) => [name, visit(member, `${path}.${name}`)]);
      return Object.fromEntries(members);
    }
    if (typeof value !== 'string') {
      return value;
    }
    if (SECRETS.some((pattern) => pattern.test(path))) {
      problems.push({ path, clause: 'must not contain the secret itself; use { env: NAME } or { file: PATH }' });
    }
    if (ADDRESSES.some((pattern) => pattern.test(path)) && value.includes('@')) {
      problems.push({ path, clause: 'must not contain a user name or password; use { env: NAME }' });
    }
    const isPath = /\.file$/.test(path) || PATHS.some((pattern) => pattern.test(path));
    return isPath && !(path === 'sandbox' && SWITCHES.test(value)) ? locate(value) : value;
  }

  function readVariable(name: string, path: string): string {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (!value) {
      const clause = VARIABLE_NAME.test(name)
        ? `requires the environment variable ${name}, which is not set`
        : 'requires an environment variable that is not set; env must be its name';
      problems.push({ path, clause });
    }
    return value ?? '';
  }

  return {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, visit(value, name)])),
    problems,
  };
}

const isReference = (value: unknown): value is { env: string } =>
  isRecord(value) && Object.keys(value).length === 1 && typeof value.env === 'string';
