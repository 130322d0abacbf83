import { isRecord } from '../../lib/is-record.ts';

/** Settings whose values are secrets. A configuration file says where they are kept instead of containing them. */
const SECRETS = [/^clients\.browser\.tenants\.[^.]+$/, /^clientTokens\.secrets\.\d+$/, /^logSecret$/];

/** Settings that are paths, besides `{ file: PATH }`. */
const PATHS = [/^sandbox$/, /^clients\.browser\.tenantKeys\.directory$/, /^trustedDocuments\.manifests\.\d+$/];

/** Values of `sandbox` that are no path. */
const SWITCHES = /^(?::memory:|on|off|true|false|[01]?)$/i;

/** Variable names as people write them. Anything else may be a secret in the wrong place, so messages leave it out. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

interface Resolved {
  values: Record<string, unknown>;
  variables: readonly string[];
  /** Problems, as a clause that follows the path. Values are not repeated. */
  problems: readonly { path: string; clause: string }[];
}

/**
 * Replaces `{ env: NAME }` by the value of the variable and makes paths absolute.
 *
 * @param locate returns the absolute path of a path in the file
 */
export function resolveReferences(
  values: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
  locate: (path: string) => string,
): Resolved {
  const variables: string[] = [];
  const problems: { path: string; clause: string }[] = [];

  function visit(value: unknown, path: string): unknown {
    if (isReference(value)) {
      return lookUp(value.env, path);
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
    const isPath = /\.file$/.test(path) || PATHS.some((pattern) => pattern.test(path));
    return isPath && !(path === 'sandbox' && SWITCHES.test(value)) ? locate(value) : value;
  }

  function lookUp(name: string, path: string): string {
    variables.push(name);
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (!value) {
      const clause = VARIABLE_NAME.test(name)
        ? `needs the environment variable ${name}, which is not set`
        : 'needs an environment variable that is not set; env must be its name';
      problems.push({ path, clause });
    }
    return value ?? '';
  }

  return {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, visit(value, name)])),
    variables,
    problems,
  };
}

const isReference = (value: unknown): value is { env: string } =>
  isRecord(value) && Object.keys(value).length === 1 && typeof value.env === 'string';
