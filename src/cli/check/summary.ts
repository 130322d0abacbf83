import { secretsOf } from '../../auth/tenant-upstreams.ts';
import { createManifestFiles } from '../../graphql/documents/manifest-files.ts';
import { createSecretFiles } from '../../lib/files/secret-files.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { CheckedConfig } from '../config/load-config.ts';
import type { ConfiguredTools } from './tool-problems.ts';

/** Returns what a configuration contains: `12 settings, 2 tenants, 14 trusted documents, 5 tools`. */
export function summarize({ config, values }: CheckedConfig, tools: ConfiguredTools | undefined): string {
  const { clients, trustedDocuments } = config;
  const { tenants = {}, tenantKeys } = clients.browser ?? {};
  const keys = createSecretFiles({ secrets: secretsOf(tenants), directory: tenantKeys?.directory }).secrets();
  const manifests = createManifestFiles(trustedDocuments.manifests).manifests();
  const documents = new Set(manifests.flatMap((manifest) => Object.keys(manifest)));
  return [
    countOf(countSettings(values), 'setting'),
    ...(clients.browser === undefined ? [] : [countOf(keys.size, 'tenant')]),
    ...(trustedDocuments.manifests.length === 0 ? [] : [countOf(documents.size, 'trusted document')]),
    ...(tools === undefined ? [] : [countOf(tools.tools.length, 'tool')]),
  ].join(', ');
}

/** Returns a number with its unit: `1 problem`, `2 problems`. */
export const countOf = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

/** Counts the settings in sections, not the sections. The file of a secret is one, like a list. */
const countSettings = (value: unknown): number =>
  isRecord(value) && !('file' in value)
    ? Object.values(value).reduce((sum: number, member) => sum + countSettings(member), 0)
    : 1;
