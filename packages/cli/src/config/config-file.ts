// Reads the configuration file: its YAML, its references to variables and files, and the places of its settings.

import { dirname, resolve } from 'node:path';
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml';
import { FileError } from '../../../../src/files/text-file.ts';
import { orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord, recordOf } from '../../../../src/lib/is-record.ts';
import { unknownName } from '../../../../src/lib/words.ts';
import type { Environment, ReadFile } from './environment.ts';
import { isPath } from './load-modules.ts';
import { type Part, partOf, replaceIn, withKind } from './parts.ts';
import { MAX_PROBLEMS, type Place, type Problem, type SettingPath } from './problem.ts';
import { SETTINGS_TABLE } from './settings.ts';

interface ConfigSource {
  name: string;
  text: string;
  /** Path of the file, which other paths in it are relative to. @default the working directory */
  path?: string | undefined;
}

/** Default name of the configuration file in the working directory. */
export const CONFIG_FILE = 'notigraph.config.yaml';

/** Names that look like the default one. The sandbox instead of what such a file configures would be a surprise. */
const OTHER_FILES = ['notigraph.config.yml', 'notigraph.config.json'];

/** Environment variables that choose the configuration, in addition to those of the settings. */
export const SOURCE_VARIABLES = ['NOTIGRAPH_CONFIG', 'NOTIGRAPH_CONFIG_TEXT'];

/** Returns the path of the configuration file, relative to the working directory; undefined if the configuration is inline. */
export const configPathOf = (option: string | undefined, { values: env }: Environment): string | undefined =>
  env.NOTIGRAPH_CONFIG_TEXT ? undefined : (option ?? (env.NOTIGRAPH_CONFIG || CONFIG_FILE));

/**
 * Finds the configuration: the given file or text, or the file with the default name.
 *
 * @param option path from the command line
 * @param problems list to add problems to
 */
export function findSource(
  option: string | undefined,
  { values: env, nameOf }: Environment,
  readFile: ReadFile,
  problems: Problem[],
): ConfigSource | undefined {
  const path = option ?? (env.NOTIGRAPH_CONFIG || undefined);
  const text = env.NOTIGRAPH_CONFIG_TEXT || undefined;
  if (path !== undefined && text !== undefined) {
    problems.push({ sentence: 'Use either a configuration file or NOTIGRAPH_CONFIG_TEXT, not both.' });
    return undefined;
  }
  if (text !== undefined) {
    return { name: 'NOTIGRAPH_CONFIG_TEXT', text };
  }
  const name = path ?? CONFIG_FILE;
  try {
    return { name, text: readFile(name), path: name };
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
    const isAbsent = path === undefined && error.isMissing;
    const other = isAbsent ? OTHER_FILES.find((each) => orUndefined(() => readFile(each))) : undefined;
    if (!isAbsent) {
      const origin = option === undefined ? nameOf('NOTIGRAPH_CONFIG') : '--config';
      const subject = path === undefined ? 'The' : `${origin}: the`;
      problems.push({ sentence: `${subject} configuration file ${name} ${error.message}.` });
    } else if (other !== undefined) {
      problems.push({ sentence: `The file ${other} is not read. Rename it to ${name}, or pass --config ${other}.` });
    }
    return undefined;
  }
}

export interface ConfigFile {
  /** Settings by name, with paths resolved and environment variables inserted; undefined if the file has no valid syntax. */
  values: Readonly<Record<string, unknown>> | undefined;
  problems: readonly (Problem & { path: SettingPath })[];
  /** Returns the place of a setting, or of the section it would be in. */
  placeOf(path: SettingPath): Place;
}

/** Syntax errors that are reported at most. Further ones usually follow from the first. */
const MAX_SYNTAX_ERRORS = 3;

/** Aliases that a file may have. For each, the package looks at all anchors. */
const MAX_ALIASES = 1_000;

/** Member that names the JSON Schema, for editors. */
const SCHEMA = '$schema';

/** Parses a configuration file. It doesn't open the files that it refers to. */
export function readConfigFile(
  { name, text, path }: ConfigSource,
  env: Readonly<Record<string, string | undefined>>,
  withoutSecrets = false,
): ConfigFile {
  const settingNames = Object.keys(SETTINGS_TABLE.shape);
  const lineCounter = new LineCounter();
  // The package would compare each name with all others of its section.
  const document = parseDocument(text, { prettyErrors: false, lineCounter, stringKeys: true, uniqueKeys: false });
  const placeAt = (offset: number): Place => {
    const { line, col: column } = lineCounter.linePos(offset);
    return { source: name, line, column };
  };
  const index = new DocumentIndex(document);
  const placeOf = (at: SettingPath) => placeAt(index.findOffset(at));
  const unreadable = (...found: Problem[]): ConfigFile => ({
    values: undefined,
    problems: found.map((problem) => ({ path: [], ...problem })),
    placeOf,
  });
  const syntaxErrors = [
    ...document.errors.map((error) => ({ offset: error.pos[0], reason: explainSyntaxError(error) })),
    ...index.repeated.map((offset) => ({ offset, reason: 'the setting is given twice' })),
  ];
  if (syntaxErrors.length > 0) {
    return unreadable(
      ...syntaxErrors.slice(0, MAX_SYNTAX_ERRORS).map(({ offset, reason }) => ({
        place: placeAt(offset),
        sentence: `invalid YAML: ${reason}.`,
      })),
    );
  }
  const content = index.aliases > MAX_ALIASES ? undefined : toPlain(document);
  if (content === undefined) {
    return unreadable({ sentence: `${name} has an alias (*name) that is unknown, circular or expands too far.` });
  }
  if (!isRecord(content)) {
    return unreadable({ sentence: `${name} must be an object of settings.` });
  }
  const problems: (Problem & { path: SettingPath })[] = [];
  const report = (at: SettingPath, sentence: string) =>
    problems.push({ path: at, place: placeOf(at), sentence: `${sentence}.` });
  const unknown = Object.keys(content).filter((each) => each !== SCHEMA && !settingNames.includes(each));
  for (const [i, key] of unknown.entries()) {
    report([key], unknownName(key, i < MAX_PROBLEMS ? settingNames : [], 'setting')); // Finding the meant one is slow.
  }
  const entries = Object.entries(content).filter(([key, value]) => settingNames.includes(key) && value !== null);
  const locate = (file: string) => (path === undefined ? file : resolve(dirname(path), file));
  const values = resolveReferences(Object.fromEntries(entries), env, locate, withoutSecrets, (at, clause) =>
    report(at, `${at.join('.')} ${clause}`),
  );
  return { values, problems, placeOf };
}

/** Finds positions in a document without searching its sections, of which a file can have thousands of members. */
class DocumentIndex {
  /** Positions of names that are in their section for the second time. */
  readonly repeated: number[] = [];
  aliases = 0;
  readonly #root: unknown;
  /** Sections and lists, by node: for a section its members by name. */
  readonly #members = new Map<unknown, Map<string, Member>>();
  /** Nodes that aliases stand for. */
  readonly #targets = new Map<unknown, unknown>();

  constructor(document: Document.Parsed) {
    this.#root = document.contents;
    const anchors = new Map<string, unknown>();
    visit(document, (_, node) => {
      if (isAlias(node)) {
        this.aliases += 1;
        this.#targets.set(node, anchors.get(node.source));
      } else if (isNode(node) && node.anchor !== undefined) {
        anchors.set(node.anchor, node);
      }
      if (isMap(node)) {
        this.#members.set(node, this.#index(node.items));
      }
    });
  }

  #index(pairs: readonly { key: unknown; value: unknown }[]): Map<string, Member> {
    const members = new Map<string, Member>();
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : '';
      const offset = offsetOf(key);
      if (offset !== undefined && members.has(name)) {
        this.repeated.push(offset);
      } else {
        members.set(name, { offset, value });
      }
    }
    return members;
  }

  /** Returns the position of a setting's name, or of the innermost section around it. */
  findOffset(path: SettingPath): number {
    let node = this.#root;
    let offset = offsetOf(node) ?? 0;
    for (const name of path) {
      const section = this.#targets.get(node) ?? node;
      const member = this.#members.get(section)?.get(String(name));
      node = isSeq(section) ? section.items[Number(name)] : member?.value;
      const found = member?.offset ?? offsetOf(node);
      if (found === undefined) {
        return offset;
      }
      offset = found;
    }
    return offset;
  }
}

interface Member {
  offset: number | undefined;
  value: unknown;
}

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** Converts a document to plain values. Returns undefined if its aliases are unknown, circular or expand excessively. */
const toPlain = (document: Document.Parsed): unknown =>
  orUndefined(() => {
    const content: unknown = document.toJS() ?? {};
    JSON.stringify(content);
    return content;
  });

/** Values of `sandbox` that are not paths. */
const SWITCHES = /^(?::memory:|on|off|true|false|[01]?)$/i;

/** Form of variable names. Anything else may be a misplaced secret, so messages omit it. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/**
 * Replaces `{ env: NAME }` with the value of the variable, makes paths absolute, and finds secrets and passwords that must not be in a file.
 *
 * @param locate converts a path in the file to an absolute path
 * @param withoutSecrets whether the variable of a secret may be missing. It is then replaced by a valid value
 * @param report receives problems, each as a clause that follows the path. They never contain values
 */
function resolveReferences(
  values: Readonly<Record<string, unknown>>,
  env: Environment['values'],
  locate: (path: string) => string,
  withoutSecrets: boolean,
  report: (path: SettingPath, clause: string) => void,
): Readonly<Record<string, unknown>> {
  function resolveValue(part: Part): unknown {
    const { path, value } = part;
    if (isReference(value)) {
      const isMissing = withoutSecrets && !env[value.env] && VARIABLE_NAME.test(value.env);
      return (isMissing ? replaceMissing(value.env, part) : undefined) ?? readVariable(value.env, path);
    }
    return typeof value === 'string' ? resolveText(value, part) : undefined;
  }

  function resolveText(text: string, part: Part): string {
    const { path } = part;
    const { kind, category } = withKind(part) ?? {};
    if (category === 'secret') {
      report(path, 'must not contain the secret itself; use { env: NAME } or { file: PATH }');
    }
    if (category === 'address' && text.includes('@')) {
      report(path, 'must not contain a user name or password; use { env: NAME }');
    }
    const isWord = (kind === 'sandbox' && SWITCHES.test(text)) || (kind === 'module' && !isPath(text));
    return category === 'path' && !isWord ? locate(text) : text;
  }

  function readVariable(name: string, path: SettingPath): string {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (!value) {
      const clause = VARIABLE_NAME.test(name)
        ? `requires the environment variable ${name}, which is not set`
        : 'requires an environment variable that is not set; env must be its name';
      report(path, clause);
    }
    return value ?? '';
  }

  return recordOf(replaceIn(partOf(SETTINGS_TABLE, values), resolveValue));
}

/** Returns a valid value in place of a secret whose variable is missing; undefined if the variable is not for a secret. */
function replaceMissing(variable: string, part: Part): unknown {
  const { kind, category } = withKind(part) ?? {};
  if (category === 'secret' || category === 'text' || kind === 'redisUrl') {
    return { file: `/missing/${variable}` };
  }
  if (kind === 'proxy') {
    return 'http://proxy.invalid:3128';
  }
  return kind === 'graphiqlKey' ? 'ApiKey missing' : undefined;
}

const isReference = (value: unknown): value is { env: string } =>
  isRecord(value) && Object.keys(value).length === 1 && typeof value.env === 'string';

/** Reasons in plain words. The library's messages quote the text, which may be a secret. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'an alias (*name) or anchor (&name) is invalid',
  BAD_DQ_ESCAPE: 'a backslash in double quotes must be written twice',
  BAD_INDENT: "the indentation doesn't match the lines above",
  BAD_SCALAR_START: 'a value that starts with a special character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on a line; quote the value, or put the inner setting on its own line',
  BLOCK_IN_FLOW: 'an indented list or object is inside [ ] or { }',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing, or the indentation is wrong',
  MULTIPLE_DOCS: 'there is a second document after ---',
  NON_STRING_KEY: 'a name must be a text, not a list, an object, an alias (*name) or a text with a tag (!name)',
  TAB_AS_INDENT: 'a tab is used as indentation; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!name) is not supported',
  UNEXPECTED_TOKEN: 'there is an unexpected character',
};

/** Explains a syntax error without quoting the text. */
function explainSyntaxError({ code, message }: YAMLParseError): string {
  const [, closing] = /end with a ([}\]])/.exec(message) ?? [];
  if (closing !== undefined) {
    return `the closing ${closing} is missing`;
  }
  if (code !== 'MISSING_CHAR') {
    return REASONS[code] ?? 'a syntax error';
  }
  if (/quote/.test(message)) {
    return 'a closing quote is missing';
  }
  if (/^Implicit map keys/.test(message)) {
    return 'a colon is missing after a name';
  }
  return /^Missing ,/.test(message) ? 'a comma is missing' : 'a character is missing';
}
