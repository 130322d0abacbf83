import type { CommandLine, Host } from '../commands/command.ts';
import { ConfigError } from '../config/config-error.ts';
import { CONFIG_FILES } from '../config/config-files.ts';
import { readEnvironment } from '../config/environment.ts';
import { type CheckedConfig, checkConfig } from '../config/load-config.ts';
import { type Problem, sortProblems } from '../config/problem.ts';
import { readConfigText } from '../config/read-config-text.ts';
import { findDocumentWarnings } from './document-warnings.ts';
import { findInstallationProblems } from './installation-problems.ts';
import { findSandboxProblems } from './sandbox-problems.ts';
import { findSecretFileWarnings } from './secret-file-warnings.ts';
import { countOf, summarize } from './summary.ts';
import { type ConfiguredTools, findToolProblems, readConfiguredTools } from './tool-problems.ts';
import { findWarnings } from './warnings.ts';

/** Environment that is checked. */
type CheckedHost = Pick<Host, 'env' | 'platform'>;

/** Result of a check. */
export interface Report {
  isValid: boolean;
  problems: readonly Problem[];
  /** Settings that are valid, but probably not intended. Empty if there are problems. */
  warnings: readonly Problem[];
  /** One sentence. */
  summary: string;
}

/** Checks the configuration that the gateway would start with. */
export async function createReport(commandLine: CommandLine, host: CheckedHost): Promise<Report> {
  try {
    const environment = readEnvironment(host.env, readConfigText);
    const checked = checkConfig(commandLine, environment, CONFIG_FILES);
    const tools = readConfiguredTools(checked.config);
    const installation = await findInstallationProblems(checked);
    const problems = [
      ...(await findSandboxProblems(checked)),
      ...(tools ? findToolProblems(tools, checked) : []),
      ...installation.problems,
    ];
    return problems.length > 0
      ? toInvalid(problems)
      : toValid(checked, [...findConfigWarnings(checked, host), ...installation.warnings], tools);
  } catch (error) {
    if (error instanceof ConfigError) {
      return toInvalid(error.problems);
    }
    throw error;
  }
}

const toInvalid = (problems: readonly Problem[]): Report => ({
  isValid: false,
  problems,
  warnings: [],
  summary: `The configuration is invalid: ${countOf(problems.length, 'problem')}.`,
});

const findConfigWarnings = (checked: CheckedConfig, { platform }: CheckedHost): Problem[] => [
  ...findWarnings(checked),
  ...(platform === 'win32' ? [] : findSecretFileWarnings(checked)), // Windows has no such permissions.
  ...findDocumentWarnings(checked),
];

function toValid(checked: CheckedConfig, found: readonly Problem[], tools: ConfiguredTools | undefined): Report {
  const warnings = sortProblems(found, checked.config.source);
  const subject = checked.config.source ?? 'The configuration';
  const verdict = warnings.length === 0 ? 'valid' : `valid, with ${countOf(warnings.length, 'warning')}`;
  return { isValid: true, problems: [], warnings, summary: `${subject} is ${verdict}: ${summarize(checked, tools)}.` };
}
