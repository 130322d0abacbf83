// Checks the files, secrets and packages that settings need, each kind by the rule of those who use it.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { findKeyProblem } from './auth/signing-keys.ts';
import { findTenantProblems } from './auth/tenants.ts';
import { findManifestProblems } from './documents/manifest.ts';
import {
  type FindProblem,
  listSecretFiles,
  readSecrets,
  type Secret,
  type SourceProblem,
} from './files/secret-files.ts';
import { caught, SetupError } from './lib/caught.ts';
import { isRecord } from './lib/is-record.ts';
import { assertInstalled } from './lib/optional-packages.ts';
import { findTlsProblems } from './network/tls-files.ts';
import { findRedisProblems } from './redis/redis-connection.ts';
import type { SettingProblem } from './settings/define.ts';
import {
  type declaredKind,
  findHeaderProblem,
  type Kind,
  type OWN_SECRETS,
  requireLength,
  sourceOf,
} from './settings/kinds.ts';
import type { GatewaySettings } from './settings/settings.ts';
import { findAuditProblems } from './telemetry/audit-log.ts';

/** Value of a setting, valid or not, that has a kind. */
type ValueOfKind = { path: readonly string[]; value: unknown } & NonNullable<ReturnType<typeof declaredKind>>;

/** Returns the problems of the values in a section that one rule is for, by their names. */
type Check = (values: Readonly<Record<string, unknown>>) => readonly SourceProblem[];

/** Makes the check of texts and files. Those of an invalid form are reported as invalid settings. */
const ofSources =
  (find: (sources: Readonly<Record<string, Secret>>) => readonly SourceProblem[]): Check =>
  (values) =>
    find(toSources(Object.entries(values)));

const toSources = (values: readonly (readonly [name: string, value: unknown])[]): Record<string, Secret> =>
  Object.fromEntries(
    values.flatMap(([name, value]) => {
      const source = sourceOf(value);
      return source === undefined ? [] : [[name, source] as const];
    }),
  );

const ofSecrets = (findProblem: FindProblem): Check =>
  ofSources((secrets) => readSecrets({ secrets }, findProblem).problems);

/** Makes the check of secrets in files. Others are checked with the settings. */
const ofOwnSecrets =
  (kind: keyof typeof OWN_SECRETS): Check =>
  (values) =>
    ofSecrets(requireLength(kind))(Object.fromEntries(Object.entries(values).filter(([, value]) => isRecord(value))));

/** Makes the check that the package of sections is installed. */
const ofUsers =
  (feature: Parameters<typeof assertInstalled>[0]): Check =>
  (values) => {
    const users = Object.entries(values).filter(([, value]) => isRecord(value));
    const error = users.length === 0 ? undefined : caught(SetupError, () => assertInstalled(feature));
    return error === undefined ? [] : users.map(([name]) => ({ name, problem: error.message }));
  };

const CERTIFICATES = ofSources(findTlsProblems);
const REDIS = ofSources(({ url, ca }) => findRedisProblems(url, ca));

/** Checks by kind. Values of a section that have the same one are checked together. Keys of tenants are in several sections. */
const CHECKS: Readonly<Partial<Record<Kind, Check>>> = {
  certificate: CERTIFICATES,
  clientKey: CERTIFICATES,
  redisUrl: REDIS,
  redisCertificate: REDIS,
  upstreamHeader: ofSecrets(findHeaderProblem),
  publicKey: ofSecrets(findKeyProblem),
  cacheSecret: ofOwnSecrets('cacheSecret'),
  clientTokenSecret: ofOwnSecrets('clientTokenSecret'),
  logSecret: ofOwnSecrets('logSecret'),
  routerSecret: ofOwnSecrets('routerSecret'),
  manifest: findManifestProblems,
  auditLog: ofSources(findAuditProblems),
  redis: ofUsers('redis'),
  mcp: ofUsers('mcp'),
};

/**
 * Reads the files that settings refer to, looks for the packages that they need, and returns all problems.
 *
 * @param values values of the settings that have a kind. Their files are checked although other settings are invalid
 * @param settings the same settings; undefined if some are invalid
 * @param withoutSecrets whether files with secrets and certificates, and the folder of the audit log, may be missing
 */
export function findFileProblems(
  values: readonly ValueOfKind[],
  settings: Pick<GatewaySettings, 'clients' | 'upstreams'> | undefined,
  withoutSecrets: boolean,
): SettingProblem[] {
  const present = withoutSecrets ? values.filter((value) => !isMissing(value)) : values;
  const sections = [...new Set(Object.values(CHECKS))].flatMap((check) => {
    const checked = present.filter(({ kind }) => CHECKS[kind] === check);
    return [...Map.groupBy(checked, ({ path }) => path.slice(0, -1).join('.')).values()].map((section) => ({
      parent: section[0]?.path.slice(0, -1) ?? [],
      problems: check(Object.fromEntries(section.map(({ path, value }) => [path.at(-1), value]))),
    }));
  });
  return [
    ...sections.flatMap(({ parent, problems }) =>
      problems.map(({ name, problem }) => ({
        path: [...parent, ...(name === undefined ? [] : [name])],
        message: problem,
      })),
    ),
    ...checkTenantKeys(present, settings),
  ];
}

/** Returns the problems of the keys of tenants, which are `clients.browser.tenants.<name>` or a member of it, and of the folder with keys. */
function checkTenantKeys(values: readonly ValueOfKind[], settings: Parameters<typeof findFileProblems>[1]) {
  const keys = values.filter(({ kind }) => kind === 'tenantKey');
  const secrets = toSources(keys.map(({ path: [, , , name = ''], value }) => [name, value]));
  const folder = values.find(({ kind }) => kind === 'tenantFolder')?.value;
  const directory = typeof folder === 'string' && folder !== '' ? folder : undefined;
  return findTenantProblems({ secrets, directory }, settings).map(({ name = '', problem }) => ({
    path: ['clients', 'browser', ...(Object.hasOwn(secrets, name) ? ['tenants', name] : ['tenantKeys'])],
    message: problem,
  }));
}

/** Whether something that only the deployment has doesn't exist: the file or folder of a secret or certificate, or the folder of the audit log. */
function isMissing({ kind, category, value }: ValueOfKind): boolean {
  const source = kind === 'tenantFolder' ? { file: String(value) } : sourceOf(value);
  if (typeof source !== 'object') {
    return false;
  }
  const canBeMissing = kind === 'tenantFolder' || ['secret', 'text', 'address'].includes(category);
  return kind === 'auditLog' ? !existsSync(dirname(source.file)) : canBeMissing && !existsSync(source.file);
}

/** Returns the files with secrets that a setting refers to, each with the path of what refers to it. */
export function listFilesOf({ path, kind, category, value }: ValueOfKind): { path: readonly string[]; file: string }[] {
  if (kind === 'tenantFolder' && typeof value === 'string' && existsSync(value)) {
    return listSecretFiles({ directory: value }).map(([, file]) => ({ path: path.slice(0, -1), file }));
  }
  // An address can contain a password.
  const source = ['secret', 'address'].includes(category) || kind === 'upstreamHeader' ? sourceOf(value) : undefined;
  return typeof source === 'object' ? [{ path, file: source.file }] : [];
}
