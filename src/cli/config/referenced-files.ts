import { findSecretProblem } from '../../auth/client-tokens.ts';
import { findKeyProblem } from '../../auth/signing-keys.ts';
import { createTenantUpstreams, findTenantProblem, findUpstreamProblem } from '../../auth/tenants.ts';
import { findManifestProblems } from '../../graphql/documents/manifest.ts';
import { findRouterSecretProblem } from '../../graphql/federation.ts';
import { type FindProblem, findSecretProblems, type Secret, type SourceProblem } from '../../lib/files/secret-files.ts';
import { isRecord } from '../../lib/is-record.ts';
import { findRedisServerProblems } from '../../redis/redis-server.ts';
import { findMissingPackage } from '../../settings/optional-packages.ts';
import type { SettingProblem } from '../../settings/parse-settings.ts';
import { findRedisUrlProblem } from '../../settings/redis-url.ts';
import { SETTINGS } from '../../settings/settings.ts';
import { file, secret } from '../../settings/text-or-file.ts';
import { findLogSecretProblem } from '../../telemetry/access-log.ts';
import { findAuditProblem } from '../../telemetry/audit-log.ts';
import { findCacheSecretProblem } from '../../upstream/cache/cache-secret.ts';
import { findTlsProblems } from '../../upstream/transport/tls-files.ts';

/**
 * Reads the files that settings refer to, looks for the packages that they need, and returns all problems. Creating a gateway reads them too, but stops at the first
 * problem and needs valid settings; here, other settings may be invalid.
 *
 * @param values settings before validation
 */
export function findFileProblems(values: Readonly<Record<string, unknown>>): SettingProblem[] {
  const browser = memberOf(values.clients, 'browser');
  const issuers = listOf(memberOf(browser, 'issuers'));
  return [
    ...problemsOfTls(['tls'], values.tls),
    ...entriesOf(values.upstreams).flatMap(([name, upstream]) =>
      problemsOfTls(['upstreams', name, 'tls'], memberOf(upstream, 'tls')),
    ),
    ...problemsOfTenants(browser, values.upstreams),
    ...issuers.flatMap((issuer, i) => {
      const key = memberOf(issuer, 'publicKey');
      return problemsOfSecrets(['clients', 'browser', 'issuers', i], { publicKey: key }, findKeyProblem);
    }),
    ...problemsOfSecrets(
      ['clientTokens', 'secrets'],
      Object.fromEntries(listOf(memberOf(values.clientTokens, 'secrets')).entries()),
      findSecretProblem,
    ),
    ...problemsOfManifests(listOf(memberOf(values.trustedDocuments, 'manifests'))),
    ...problemsOfMcp(values.mcp),
    ...problemsOfAudit(memberOf(values.audit, 'to')),
    ...problemsOfCache(values.cache),
    ...problemsOfFile([], 'logSecret', values, findLogSecretProblem),
    ...problemsOfFile(['federation'], 'routerSecret', values.federation, findRouterSecretProblem),
    ...problemsOfStore(['rateLimits', 'store'], memberOf(values.rateLimits, 'store')),
  ];
}

/** Returns the problems of single keys and of the folder with keys, or else those of both together, such as a tenant with two keys. */
function problemsOfTenants(browser: unknown, upstreams: unknown): SettingProblem[] {
  const path = ['clients', 'browser', 'tenants'];
  const folderPath = ['clients', 'browser', 'tenantKeys'];
  const tenants = entriesOf(memberOf(browser, 'tenants'));
  const secrets = validSecrets(
    Object.fromEntries(tenants.map(([name, entry]) => [name, memberOf(entry, 'key') ?? entry])),
  );
  const folder = memberOf(memberOf(browser, 'tenantKeys'), 'directory');
  if (typeof folder !== 'string' || folder === '') {
    return problemsOfSecrets(path, secrets, findTenantProblem);
  }
  const toProblem = ({ name = '', problem }: SourceProblem): SettingProblem => ({
    path: Object.hasOwn(secrets, name) ? [...path, name] : folderPath,
    message: problem,
  });
  const tenantUpstreams = createTenantUpstreams(
    { tenantKeys: { directory: folder, upstreams: textsOf(memberOf(memberOf(browser, 'tenantKeys'), 'upstreams')) } },
    SETTINGS.upstreams.safeParse(upstreams).data,
  );
  const single = [
    ...findSecretProblems({ secrets }, findTenantProblem),
    ...findSecretProblems(
      { directory: folder },
      (keys) => findTenantProblem(keys) ?? findUpstreamProblem(keys, tenantUpstreams),
    ),
  ];
  const problems = single.length > 0 ? single : findSecretProblems({ secrets, directory: folder }, findTenantProblem);
  return problems.map(toProblem);
}

const problemsOfSecrets = (path: readonly PropertyKey[], values: unknown, find: FindProblem): SettingProblem[] =>
  findSecretProblems({ secrets: validSecrets(values) }, find).map(({ name = '', problem }) => ({
    path: [...path, name],
    message: problem,
  }));

/** Returns the secrets of valid form. The others are reported as invalid settings. */
function validSecrets(values: unknown): Record<string, Secret> {
  return Object.fromEntries(
    entriesOf(values).flatMap(([name, value]): [string, Secret][] => {
      const { data } = secret.safeParse(value);
      return data === undefined ? [] : [[name, data]];
    }),
  );
}

/** Returns the problems of certificates and of the key. */
function problemsOfTls(path: readonly PropertyKey[], tls: unknown): SettingProblem[] {
  const { ca, clientCertificate, clientKey } = validSecrets(tls);
  const sources = {
    ...(ca && { ca }),
    ...(clientCertificate && { clientCertificate }),
    ...(clientKey && { clientKey }),
  };
  return findTlsProblems(sources).map(({ name = '', problem }) => ({ path: [...path, name], message: problem }));
}

function problemsOfManifests(manifests: readonly unknown[]): SettingProblem[] {
  return findManifestProblems(manifests.map(toPath)).map(({ index, problem }) => ({
    path: ['trustedDocuments', 'manifests', ...(index === undefined ? [] : [index])],
    message: problem,
  }));
}

/** Returns a path; an empty manifest in place of inline ones, which are no files. */
const toPath = (manifest: unknown) => (typeof manifest === 'string' && manifest !== '' ? manifest : {});

/** Returns the problems of the manifest's files, and of the package. Its operations are checked where the schema is loaded. */
function problemsOfMcp(mcp: unknown): SettingProblem[] {
  if (mcp === undefined) {
    return [];
  }
  const missing = findMissingPackage('mcp');
  return [
    ...(missing === undefined ? [] : [{ path: ['mcp'], message: missing }]),
    ...findManifestProblems([toPath(memberOf(mcp, 'manifest'))]).map(({ problem }) => ({
      path: ['mcp', 'manifest'],
      message: problem,
    })),
  ];
}

/** Returns why lines couldn't be appended to the audit log. The file is not created. */
function problemsOfAudit(to: unknown): SettingProblem[] {
  const { data } = file.safeParse(to);
  const message = data && findAuditProblem(data.file);
  return message === undefined ? [] : [{ path: ['audit', 'to'], message }];
}

/** Returns the problems of the secret's file, and of the store. */
function problemsOfCache(cache: unknown): SettingProblem[] {
  return [
    ...problemsOfFile(['cache'], 'secret', cache, findCacheSecretProblem),
    ...problemsOfStore(['cache', 'store'], memberOf(cache, 'store')),
  ];
}

/** Returns the problems of a secret if it is in a file. Otherwise, it is checked with the other settings. */
function problemsOfFile(path: readonly string[], name: string, section: unknown, find: FindProblem): SettingProblem[] {
  const { data } = file.safeParse(memberOf(section, name));
  return data === undefined ? [] : problemsOfSecrets(path, { [name]: data }, find);
}

/** Returns the problems of the URL and the certificates if one of them is in a file, and of the package. */
function problemsOfStore(path: readonly string[], store: unknown): SettingProblem[] {
  const redis = memberOf(store, 'redis');
  if (redis === undefined) {
    return [];
  }
  const missing = findMissingPackage('redis');
  const { url, ca } = validSecrets(redis);
  const isInvalid = typeof url === 'string' && findRedisUrlProblem(url) !== undefined; // Reported with the other settings.
  const problems = url === undefined || isInvalid ? [] : findRedisServerProblems({ url, ca });
  return [
    ...(missing === undefined ? [] : [{ path, message: missing }]),
    ...problems.map(({ name = '', problem }) => ({ path: [...path, 'redis', name], message: problem })),
  ];
}

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const textsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(entriesOf(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])));

const entriesOf = (value: unknown): readonly [string, unknown][] => (isRecord(value) ? Object.entries(value) : []);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
