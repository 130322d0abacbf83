import { findSecretProblem } from '../../auth/client-token-keys.ts';
import { findKeyProblem } from '../../auth/jwks.ts';
import { findTenantProblem } from '../../auth/tenant-keys.ts';
import { findManifestProblems } from '../../graphql/documents/manifest-files.ts';
import { isRecord } from '../../lib/is-record.ts';
import { type FindProblem, findSecretProblems, type Secret, type SourceProblem } from '../../lib/secret-files.ts';
import { secret } from '../../settings/clients.ts';
import type { SettingProblem } from '../../settings/parse-settings.ts';

/**
 * Reads the files that settings refer to, and returns the problems of all of them. Creating a gateway reads them too, but stops at the first
 * problem and needs valid settings; here, other settings may be invalid.
 *
 * @param values settings before validation
 */
export function findFileProblems(values: Readonly<Record<string, unknown>>): SettingProblem[] {
  const browser = memberOf(values.clients, 'browser');
  const issuers = listOf(memberOf(browser, 'issuers'));
  return [
    ...problemsOfTenants(browser),
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
  ];
}

/** Returns the problems of single keys and of the folder with keys, or else those of both together, such as a tenant with two keys. */
function problemsOfTenants(browser: unknown): SettingProblem[] {
  const path = ['clients', 'browser', 'tenants'];
  const folderPath = ['clients', 'browser', 'tenantKeys'];
  const secrets = validSecrets(memberOf(browser, 'tenants'));
  const folder = memberOf(memberOf(browser, 'tenantKeys'), 'directory');
  if (typeof folder !== 'string' || folder === '') {
    return problemsOfSecrets(path, secrets, findTenantProblem);
  }
  const toProblem = ({ name = '', problem }: SourceProblem): SettingProblem => ({
    path: Object.hasOwn(secrets, name) ? [...path, name] : folderPath,
    message: problem,
  });
  const single = [{ secrets }, { directory: folder }].flatMap((sources) =>
    findSecretProblems(sources, findTenantProblem),
  );
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
  const given = isRecord(values) ? Object.entries(values) : [];
  return Object.fromEntries(
    given.flatMap(([name, value]): [string, Secret][] => {
      const { data } = secret.safeParse(value);
      return data === undefined ? [] : [[name, data]];
    }),
  );
}

function problemsOfManifests(manifests: readonly unknown[]): SettingProblem[] {
  const paths = manifests.map((manifest) => (typeof manifest === 'string' && manifest !== '' ? manifest : {}));
  return findManifestProblems(paths).map(({ index, problem }) => ({
    path: ['trustedDocuments', 'manifests', ...(index === undefined ? [] : [index])],
    message: problem,
  }));
}

const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
