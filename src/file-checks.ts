// Checks the files, secrets and packages that settings need, each kind by the rule of those who use it.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { findKeyProblem } from './auth/signing-keys.ts';
import { createTenantUpstreams, findTenantProblem } from './auth/tenants.ts';
import { findManifestProblems } from './documents/manifest.ts';
import {
  type FindProblem,
  listSecretFiles,
  readSecrets,
  type Secret,
  type SourceProblem,
} from './files/secret-files.ts';
import { caught, SetupError } from './lib/caught.ts';
import { assertInstalled } from './lib/installation.ts';
import { isRecord } from './lib/is-record.ts';
import { findTlsProblems } from './network/tls-files.ts';
import { findRedisProblem } from './redis/redis.ts';
import type { SettingProblem } from './settings/define.ts';
import { type declaredKind, findHeaderProblem, type Kind, requireLength, sourceOf } from './settings/kinds.ts';
import type { GatewaySettings } from './settings/settings.ts';
import { findAuditProblems } from './telemetry/audit-log.ts';

/** Value of a setting, valid or not, that has a kind. */
type ValueOfKind = { path: readonly string[]; value: unknown } & NonNullable<ReturnType<typeof declaredKind>>;

/** Returns the problems of texts and files that are used together, by their names. */
type Check = (sources: Readonly<Record<string, Secret>>) => readonly SourceProblem[];

const ofSecrets =
  (findProblem: FindProblem): Check =>
  (secrets) =>
    readSecrets({ secrets }, findProblem).problems;

const REDIS = ofSecrets(findRedisProblem);

/** Checks by kind. Values in one section with the same check are checked together. */
const CHECKS: Readonly<Partial<Record<Kind, Check>>> = {
  certificate: findTlsProblems,
  clientKey: findTlsProblems,
  redisUrl: REDIS,
  redisCertificate: REDIS,
  upstreamHeader: ofSecrets(findHeaderProblem),
  publicKey: ofSecrets(findKeyProblem),
  cacheSecret: ofSecrets(requireLength('cacheSecret')),
  clientTokenSecret: ofSecrets(requireLength('clientTokenSecret')),
  logSecret: ofSecrets(requireLength('logSecret')),
  routerSecret: ofSecrets(requireLength('routerSecret')),
  manifest: findManifestProblems,
  auditLog: findAuditProblems,
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
  const checked = [...new Set(Object.values(CHECKS))].flatMap((check) => {
    const sections = Map.groupBy(
      present.filter(({ kind }) => CHECKS[kind] === check),
      ({ path }) => path.slice(0, -1).join('.'),
    );
    return [...sections.values()].flatMap((section) =>
      check(toSources(section, ({ path }) => path.at(-1))).map(({ name, problem }) => ({
        path: [...(section[0]?.path.slice(0, -1) ?? []), ...(name === undefined ? [] : [name])],
        message: problem,
      })),
    );
  });
  return [...checked, ...checkTenantKeys(present, settings), ...present.flatMap(checkPackage)];
}

/** Returns the texts and files of values by name. Those of an invalid form are reported as invalid settings. */
const toSources = (values: readonly ValueOfKind[], nameOf: (value: ValueOfKind) => string | undefined) =>
  Object.fromEntries(
    values.flatMap((each): [string, Secret][] => {
      const source = sourceOf(each.value);
      return source === undefined ? [] : [[nameOf(each) ?? '', source]];
    }),
  );

/** Returns the problems of the keys of tenants, which are `clients.browser.tenants.<name>` or a member of it, and of the folder with others. */
function checkTenantKeys(values: readonly ValueOfKind[], settings: Parameters<typeof findFileProblems>[1]) {
  const keys = values.filter(({ kind }) => kind === 'tenantKey');
  const secrets = toSources(keys, ({ path: [, , , name] }) => name);
  const folder = values.find(({ kind }) => kind === 'tenantFolder')?.value;
  const directory = typeof folder === 'string' && folder !== '' ? folder : undefined;
  const browser = settings?.clients.browser;
  const upstreams = browser && createTenantUpstreams(browser, settings.upstreams);
  const { problems } = readSecrets({ secrets, directory }, (all) => findTenantProblem(all, upstreams));
  const isUnread = problems.some(({ name }) => name === undefined); // The problem is that of the folder.
  const others = isUnread ? readSecrets({ secrets }, findTenantProblem).problems : [];
  return [...problems, ...others].map(({ name = '', problem }) => ({
    path: ['clients', 'browser', ...(Object.hasOwn(secrets, name) ? ['tenants', name] : ['tenantKeys'])],
    message: problem,
  }));
}

/** Returns the problem of a section whose package is not installed. */
function checkPackage({ kind, path, value }: ValueOfKind): SettingProblem[] {
  const isUsed = (kind === 'redis' || kind === 'mcp') && isRecord(value);
  const error = isUsed ? caught(SetupError, () => assertInstalled(kind)) : undefined;
  return error === undefined ? [] : [{ path, message: error.message }];
}

/** Whether something that only the deployment has doesn't exist: the file or folder of a secret or certificate, or the folder of the audit log. */
function isMissing({ kind, value }: ValueOfKind): boolean {
  const source = kind === 'tenantFolder' ? { file: String(value) } : sourceOf(value);
  return typeof source === 'object' && !existsSync(kind === 'auditLog' ? dirname(source.file) : source.file);
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
