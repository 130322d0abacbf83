// Checks the files and packages that settings need.

import { findFileProblems as findProblemsOf } from '../../../../src/file-checks.ts';
import type { SettingProblem } from '../../../../src/settings/define.ts';
import { findFileProblem } from '../files.ts';
import { findPartsOfKinds, type PartOfKind, partOf } from './parts.ts';
import { SETTINGS_TABLE, type Settings, sandboxFileOf } from './settings.ts';

/**
 * Returns all problems of the files and packages that settings need.
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
  const parts = findPartsOfKinds(partOf(SETTINGS_TABLE, values));
  return [...findProblemsOf(parts, settings, withoutSecrets), ...parts.flatMap(checkSandbox)];
}

function checkSandbox({ kind, path, value }: PartOfKind): SettingProblem[] {
  const isFile = kind === 'sandbox' && (typeof value === 'string' || typeof value === 'boolean');
  const file = isFile ? sandboxFileOf(value) : ':memory:';
  const message = file === ':memory:' ? undefined : findFileProblem(file);
  return message === undefined ? [] : [{ path, message }];
}
