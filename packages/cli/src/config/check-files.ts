// Checks the files and packages that settings need.

import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { findKeyProblem } from '../../../../src/auth/signing-keys.ts';
import { createTenantUpstreams, findTenantProblem } from '../../../../src/auth/tenants.ts';
import { createManifestFiles, findManifests, ManifestError, readManifest } from '../../../../src/documents/manifest.ts';
import {
  createSecretFiles,
  type FindProblem,
  problemsOf,
  type Secret,
  type SourceProblem,
} from '../../../../src/files/secret-files.ts';
import { caught } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { assertInstalled, MissingPackageError } from '../../../../src/lib/optional-packages.ts';
import { createTlsFiles } from '../../../../src/network/tls-files.ts';
import { readRedisServer } from '../../../../src/redis/redis-connection.ts';
import type { SettingProblem } from '../../../../src/settings/define.ts';
import { findHeaderProblem, type Kind, OWN_SECRETS, requireLength } from '../../../../src/settings/kinds.ts';
import { findRedisUrlProblem } from '../../../../src/settings/stores.ts';
import { toAuditError } from '../../../../src/telemetry/audit-log.ts';
import { findFileProblem } from '../files.ts';
import { findPartsOfKinds, type PartOfKind, partOf, sourceOf } from './parts.ts';
import { SETTINGS_TABLE, type Settings, sandboxFileOf } from './settings.ts';

/**
 * Reads the files that settings refer to, looks for the packages that they need, and returns all problems.
 *
 * @param values settings before validation. Their files are checked although other settings are invalid
 * @param settings the same settings; undefined if some are invalid
 * @param withoutSecrets whether files with secrets and certificates, and the folder of the audit log, may be missing. @default false
 */
export function findFileProblems(
  values: Readonly<Record<string, unknown>>,
  settings: Settings | undefined,
  withoutSecrets = false,
): SettingProblem[] {
  const all = findPartsOfKinds(partOf(SETTINGS_TABLE, values));
  const missing = withoutSecrets ? new Set(all.filter(isMissing)) : new Set();
  const parts = all.filter((part) => !missing.has(part));
  const of = (...kinds: readonly Kind[]) => parts.filter(({ kind }) => kinds.includes(kind));
  return [
    ...groupBySection(all.filter(({ kind }) => kind === 'certificate' || kind === 'clientKey')).flatMap((section) =>
      checkTogether(withoutPair(section, missing), (sources) => problemsOf(() => createTlsFiles(sources))),
    ),
    ...groupBySection(of('redisUrl', 'redisCertificate')).flatMap((section) =>
      checkTogether(section, findRedisProblems),
    ),
    ...checkTenantKeys(of('tenantKey'), of('tenantFolder')[0], settings),
    ...of('upstreamHeader').flatMap((part) => checkSecret(part, findHeaderProblem)),
    ...of('publicKey').flatMap((part) => checkSecret(part, findKeyProblem)),
    ...parts.flatMap((part) =>
      // Others are checked with the settings.
      isOwnSecret(part.kind) && typeof part.value !== 'string' ? checkSecret(part, requireLength(part.kind)) : [],
    ),
    ...groupBySection(of('manifest')).flatMap(checkManifests),
    ...of('auditLog').flatMap(checkAuditLog),
    ...of('sandbox').flatMap(checkSandbox),
    ...checkPackage('redis', of('redis')),
    ...checkPackage('mcp', of('mcp')),
  ];
}

/** Returns the parts of a section without those that are missing, and without a client certificate whose key is missing, or the reverse. */
function withoutPair(section: readonly PartOfKind[], missing: ReadonlySet<unknown>): PartOfKind[] {
  const isOfPair = (part: PartOfKind) => nameOf(part).startsWith('client');
  const isIncomplete = section.some((part) => isOfPair(part) && missing.has(part));
  return section.filter((part) => !missing.has(part) && !(isIncomplete && isOfPair(part)));
}

/** Whether something that only the deployment has doesn't exist: the file or folder of a secret or certificate, or the folder of the audit log. */
function isMissing(part: PartOfKind): boolean {
  const source = part.kind === 'tenantFolder' ? { file: String(part.value) } : sourceOf(part);
  const canBeMissing = part.kind === 'tenantFolder' || ['secret', 'text', 'address'].includes(part.category);
  if (typeof source !== 'object') {
    return false;
  }
  return part.kind === 'auditLog' ? !existsSync(dirname(source.file)) : canBeMissing && !existsSync(source.file);
}

const isOwnSecret = (kind: Kind): kind is keyof typeof OWN_SECRETS => Object.hasOwn(OWN_SECRETS, kind);

/** Returns the parts that belong together, which are in the same section or list. */
const groupBySection = (parts: readonly PartOfKind[]): PartOfKind[][] => [
  ...Map.groupBy(parts, ({ path }) => path.slice(0, -1).join('.')).values(),
];

/** Returns the problems of parts of a section that are used together. */
const checkTogether = (
  parts: readonly PartOfKind[],
  find: (sources: Record<string, Secret>) => readonly SourceProblem[],
): SettingProblem[] =>
  find(toSources(parts, nameOf)).map(({ name = '', problem }) => ({
    path: [...(parts[0]?.path.slice(0, -1) ?? []), name],
    message: problem,
  }));

/** Returns the problems with which reading secrets fails; none if it succeeds. */
const findSecretProblems = (
  sources: Parameters<typeof createSecretFiles>[0],
  findProblem: FindProblem,
): readonly SourceProblem[] => problemsOf(() => createSecretFiles(sources, findProblem));

const checkSecret = (part: PartOfKind, findProblem: FindProblem): SettingProblem[] =>
  checkTogether([part], (secrets) => findSecretProblems({ secrets }, findProblem));

/** Returns the problems of a Redis server's URL in a file, and of its certificates. An invalid URL is reported with the other settings. */
const findRedisProblems = ({ url, ca }: Record<string, Secret>): readonly SourceProblem[] =>
  url === undefined || (typeof url === 'string' && findRedisUrlProblem(url) !== undefined)
    ? []
    : problemsOf(() => readRedisServer({ url, ca }));

const nameOf = ({ path }: PartOfKind): string => path.at(-1) ?? '';

/** Returns the texts and files of parts by name. Those of an invalid form are reported as invalid settings. */
const toSources = (parts: readonly PartOfKind[], nameOf: (part: PartOfKind) => string): Record<string, Secret> =>
  Object.fromEntries(
    parts.flatMap((part): [string, Secret][] => {
      const source = sourceOf(part);
      return source === undefined ? [] : [[nameOf(part), source]];
    }),
  );

/** Returns the name of the tenant in the path of its key, which is `clients.browser.tenants.<name>` or a member of it. */
const tenantOf = ({ path: [, , , name = ''] }: PartOfKind): string => name;

/** Returns the problems of single keys and of the folder with keys, or else those of both together, such as a tenant with two keys. */
function checkTenantKeys(
  keys: readonly PartOfKind[],
  folder: PartOfKind | undefined,
  settings: Settings | undefined,
): SettingProblem[] {
  const secrets = toSources(keys, tenantOf);
  const directory = typeof folder?.value === 'string' && folder.value !== '' ? folder.value : undefined;
  const { browser } = settings?.clients ?? {};
  const upstreams = browser && createTenantUpstreams(browser, settings?.upstreams);
  const single = [
    ...findSecretProblems({ secrets }, findTenantProblem),
    ...findSecretProblems({ directory }, (found) => findTenantProblem(found, upstreams)),
  ];
  const problems = single.length > 0 ? single : findSecretProblems({ secrets, directory }, findTenantProblem);
  return problems.map(({ name = '', problem }) => ({
    path: Object.hasOwn(secrets, name) ? ['clients', 'browser', 'tenants', name] : ['clients', 'browser', 'tenantKeys'],
    message: problem,
  }));
}

/** Returns the problems of single manifests, or else of those of a list that contradict each other. Inline ones have no files. */
function checkManifests(parts: readonly PartOfKind[]): SettingProblem[] {
  const files = parts.flatMap(({ path, value }) => (typeof value === 'string' && value !== '' ? { path, value } : []));
  const single = files.flatMap(({ path, value }) => problemsAt(value).map((message) => ({ path, message })));
  if (single.length > 0) {
    return single;
  }
  const [first] = parts;
  const path = (parts.length === 1 ? first?.path : first?.path.slice(0, -1)) ?? [];
  return messagesOf(() => createManifestFiles(files.map(({ value }) => value))).map((message) => ({ path, message }));
}

function problemsAt(path: string): string[] {
  let files: string[] = [];
  const unreadable = messagesOf(() => {
    files = findManifests(path);
  });
  return [...unreadable, ...files.flatMap((file) => messagesOf(() => readManifest(file)))];
}

function messagesOf(read: () => unknown): string[] {
  const error = caught(ManifestError, read);
  return error === undefined ? [] : [error.message];
}

/** Returns why lines couldn't be appended to the audit log. The file is not created. */
function checkAuditLog(part: PartOfKind): SettingProblem[] {
  const source = sourceOf(part);
  if (typeof source !== 'object') {
    return [];
  }
  const { file } = source;
  const error = caught(Error, () => {
    const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
    if (isThere) {
      closeSync(openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK));
    } else {
      accessSync(dirname(file), constants.W_OK | constants.X_OK);
    }
  });
  return error === undefined ? [] : [{ path: part.path, message: toAuditError(file, error).message }];
}

function checkSandbox({ path, value }: PartOfKind): SettingProblem[] {
  const file = typeof value === 'string' || typeof value === 'boolean' ? sandboxFileOf(value) : ':memory:';
  const message = file === ':memory:' ? undefined : findFileProblem(file);
  return message === undefined ? [] : [{ path, message }];
}

function checkPackage(feature: 'redis' | 'mcp', parts: readonly PartOfKind[]): SettingProblem[] {
  const users = parts.filter(({ value }) => isRecord(value));
  const message = users.length === 0 ? undefined : caught(MissingPackageError, () => assertInstalled(feature))?.message;
  return message === undefined ? [] : users.map(({ path }) => ({ path, message }));
}
