// Checks a configuration as a whole, and formats what is found.

import type { GraphQLSchema } from 'graphql';
import { elementsOf } from '../../../../src/graphql/scopes.ts';
import { caught } from '../../../../src/lib/caught.ts';
import { listAll } from '../../../../src/lib/words.ts';
import { findToolProblems } from '../../../../src/mcp/tool-files.ts';
import type { GatewayModule } from '../../../../src/modules/module.ts';
import { createSchema, endpointsOf, findUndeclared, ownerOf } from '../../../../src/modules/schema.ts';
import { findEmptied } from '../../../../src/upstream/endpoint.ts';
import type { CommandLine, Process } from '../command.ts';
import { readEnvironment } from '../config/environment.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { loadCheckedModules } from '../config/load-modules.ts';
import { ConfigError, formatProblem, type Problem, problemOf, sortProblems } from '../config/problem.ts';
import { countWorkers } from '../config/settings.ts';
import { findMemoryProblem } from '../server/process-limits.ts';
import { countOf, withoutControls } from '../text.ts';
import { findDocumentWarnings, findSecretFileWarnings, findTenantWarnings, findWarnings } from './warnings.ts';

export interface Report {
  /** Problems that prevent a start. */
  problems: readonly Problem[];
  /** Settings that are valid, but probably not intended. Empty if there are problems. */
  warnings: readonly Problem[];
  summary: string;
  /** Additions of each module to the schema. @default none */
  modules?: readonly ModuleReport[];
}

interface ModuleReport {
  name: string;
  /** Types such as `Topic` and fields such as `Query.topics` or `Topic.key`. */
  elements: readonly { name: string; scopes: readonly string[] }[];
  /** Such as `GET /v1/topics`. */
  endpoints: readonly string[];
  /** Scopes that its types and fields require. */
  scopes: readonly string[];
}

/** Checks the configuration that the gateway would start with. */
export async function createReport(
  commandLine: Pick<CommandLine, 'options' | 'problems'>,
  host: Pick<Process, 'env' | 'platform'>,
): Promise<Report> {
  const withoutSecrets = commandLine.options['without-secrets'] !== undefined;
  try {
    const loaded = loadConfig(commandLine, readEnvironment(host.env), { withoutSecrets });
    const { config, values, locate } = loaded;
    const modules = await loadCheckedModules(config, locate);
    const schema = createSchema(config, modules);
    const problems = [...(await findSandboxProblems(loaded)), ...describeToolProblems(loaded, schema)];
    if (problems.length > 0) {
      throw new ConfigError(problems);
    }
    const memoryProblem = findMemoryProblem(config, countWorkers(config.workers)); // Of this machine, or the container of the check.
    const warnings = sortProblems([
      ...findWarnings(loaded),
      ...findTenantWarnings(loaded),
      ...(host.platform === 'win32' ? [] : findSecretFileWarnings(loaded)), // Windows has no such permissions.
      ...findDocumentWarnings(loaded, schema),
      ...findEmptiesWarnings(loaded, schema),
      ...findUndeclaredWarnings(loaded, schema),
      ...(memoryProblem === undefined ? [] : [{ sentence: memoryProblem }]),
    ]);
    const verdict = warnings.length === 0 ? 'valid' : `valid, with ${countOf(warnings.length, 'warning')}`;
    const isDefault = config.sandbox !== undefined && values.modules === undefined;
    const hint = isDefault ? ' It starts the sandbox with the shipped modules.' : '';
    return {
      problems,
      warnings,
      summary: `${config.source ?? 'The configuration'} is ${verdict}.${hint}`,
      ...(values.modules !== undefined && { modules: describeModules(modules) }),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    const { problems, count } = error;
    const summary = `The configuration is invalid: ${countOf(count, 'problem')}.`;
    return { problems, warnings: [], summary };
  }
}

/** Returns a warning for each write of a module that should declare which cached reads it empties. */
function findEmptiesWarnings({ locate }: LoadedConfig, schema: GraphQLSchema): Problem[] {
  const endpoints = endpointsOf(schema);
  const modules = new Set(endpoints.map(({ module }) => module));
  const knownTo = (of?: string) => endpoints.filter(({ module }) => module === undefined || module === of);
  const emptied = new Map([...modules].map((module) => [module, findEmptied(knownTo(module))]));
  return endpoints.flatMap((endpoint) => {
    const { method, route, module, empties } = endpoint;
    if (module === undefined || empties !== undefined) {
      return [];
    }
    const found = emptied.get(module)?.get(endpoint);
    const kinds = found?.map((kind) => `'${kind}'`).join(', ');
    const effect = `${method} ${route} of the module ${module} empties the cached reads ${kinds}, because of its path`;
    const advice = `declare empties: [${kinds}], or [] if it changes none of them`;
    return kinds ? [problemOf(locate(['modules']), `: ${effect}; ${advice}`)] : [];
  });
}

/** Returns a warning for each field of `Query` and `Mutation` that doesn't declare its calls. */
const findUndeclaredWarnings = ({ locate }: LoadedConfig, schema: GraphQLSchema): Problem[] =>
  findUndeclared(schema).map((path) => {
    const effect = `${path} of the module ${ownerOf(schema, path)} declares no calls, so each API key is tried with a read before it`;
    return problemOf(locate(['modules']), `: ${effect}; add extensions: declareCalls('1'), or '0' if it makes none`);
  });

/** Returns what each module adds to the built-in schema, also one that only another module uses. */
function describeModules(modules: readonly GatewayModule[]): ModuleReport[] {
  const schema = createSchema(undefined, modules);
  const listElements = (of: GraphQLSchema) => elementsOf(of).map(({ path, scopes }) => ({ name: path, scopes }));
  const builtIn = new Set(listElements(createSchema()).map(formatElement));
  const added = listElements(schema).filter((element) => !builtIn.has(formatElement(element)));
  const byOwner = Map.groupBy(added, ({ name }) => ownerOf(schema, name) ?? modules.at(-1)?.name ?? '');
  return [...new Set([...modules.map(({ name }) => name), ...byOwner.keys()])].map((name) => {
    const elements = byOwner.get(name) ?? [];
    const endpoints = endpointsOf(schema).filter(({ module }) => module === name);
    const scopes = [...new Set(elements.flatMap((element) => element.scopes))].toSorted();
    return { name, elements, endpoints: endpoints.map(({ method, route }) => `${method} ${route}`), scopes };
  });
}

const formatElement = ({ name, scopes }: ModuleReport['elements'][number]): string =>
  scopes.length === 0 ? name : `${name} (${scopes.join(', ')})`;

/** Returns a line per addition, so that the reports of two versions can be compared. */
function formatModule({ name, elements, endpoints }: ModuleReport): string {
  const fields = elements.filter((element) => element.name.includes('.')).length;
  const types = elements.length - fields;
  const counts = [countOf(types, 'type'), countOf(fields, 'field'), countOf(endpoints.length, 'endpoint')];
  const lines = [...elements.map(formatElement), ...endpoints].map((line) => `\n  ${line}`);
  return `Module ${name} adds ${lines.length === 0 ? 'nothing to the schema.' : `${listAll(counts)}:${lines.join('')}`}`;
}

/** Returns the problems of the configured tools, each of which prevents a start. */
const describeToolProblems = ({ config, locate }: LoadedConfig, schema: GraphQLSchema): Problem[] =>
  (config.mcp === undefined ? [] : findToolProblems(config.mcp, { schema, limits: config })).map(({ path, problem }) =>
    problemOf(locate(['mcp', ...path]), `${path[0] === 'manifest' ? ':' : ''} ${problem}`),
  );

/** Returns why the sandbox couldn't use its file. The file stays unchanged. The sandbox is loaded only if it is configured. */
async function findSandboxProblems({ config: { sandbox }, locate }: LoadedConfig): Promise<Problem[]> {
  if (sandbox === undefined) {
    return [];
  }
  const { SandboxError, checkSandboxFile } = await import('../../../sandbox/src/sandbox.ts');
  const error = caught(SandboxError, () => checkSandboxFile(sandbox));
  const { place, name } = locate(['sandbox']);
  return error === undefined ? [] : [{ place, sentence: `${name}: ${error.message}` }];
}

/** Formats a report: `text`, `json`, or `github` for the annotations of GitHub Actions. */
export function formatReport({ problems, warnings, summary, modules }: Report, format: string): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify({ valid: problems.length === 0, summary, problems: problems.map(toJson), warnings: warnings.map(toJson), modules }, null, 2)}\n`;
    case 'github':
      return toLines([
        summary,
        ...problems.map((problem) => toAnnotation('error', problem)),
        ...warnings.map((warning) => toAnnotation('warning', warning)),
      ]);
    default:
      return toLines([
        summary,
        ...problems.map(formatProblem),
        ...warnings.map(({ place, sentence }) => formatProblem({ place, sentence: `warning: ${sentence}` })),
        ...(modules ?? []).map(formatModule),
      ]);
  }
}

const toLines = (lines: readonly string[]): string => lines.map((line) => `${withoutControls(line)}\n`).join('');

const toJson = ({ place, sentence: message }: Problem) => ({
  ...(place && { file: place.source, line: place.line, column: place.column }),
  message,
});

/** Returns a command of GitHub Actions that marks the place of a problem. */
function toAnnotation(level: 'error' | 'warning', { place, sentence }: Problem): string {
  const file = escapeText(place?.source ?? '')
    .replaceAll(':', '%3A')
    .replaceAll(',', '%2C');
  const at = place === undefined ? '' : ` file=${file},line=${place.line},col=${place.column}`;
  return `::${level}${at}::${escapeText(sentence)}`;
}

const escapeText = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
