import { dirname, resolve } from 'node:path';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { isRecord } from '../../lib/is-record.ts';
import { unknownName } from '../../settings/setting.ts';
import type { Place, Problem } from './problem.ts';
import { resolveReferences } from './references.ts';
import { explainSyntaxError } from './yaml-problems.ts';

/** Configuration file, or configuration inline. */
export interface ConfigSource {
  /** Name in messages. */
  name: string;
  text: string;
  /** Path of the file, which other paths in it are relative to. @default the working directory */
  path?: string | undefined;
}

/** Path of a setting: names, and indexes of lists. */
export type SettingPath = readonly PropertyKey[];

/** Problem of a configuration file. */
export interface FileProblem extends Problem {
  /** Path of the setting, separated by dots. */
  path: string;
}

/** Contents of a configuration file. */
export interface ConfigFile {
  /** Settings by name, with paths resolved and environment variables inserted; undefined if the file has no valid syntax. */
  values: Readonly<Record<string, unknown>> | undefined;
  problems: readonly FileProblem[];
  /** Returns the place of a setting, or of the section it would be in. */
  placeOf(path: SettingPath): Place;
}

/** Syntax errors that are reported at most. Further ones usually follow from the first. */
const MAX_SYNTAX_ERRORS = 3;

/** Member that names the JSON Schema, for editors. */
const SCHEMA = '$schema';

/** Parses a configuration file. It doesn't open the files that it refers to. */
export function readConfigFile(
  { name, text, path }: ConfigSource,
  env: Readonly<Record<string, string | undefined>>,
  settingNames: readonly string[],
): ConfigFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, lineCounter });
  const placeAt = (offset: number): Place => {
    const { line, col: column } = lineCounter.linePos(offset);
    return { source: name, line, column };
  };
  const placeOf = (at: SettingPath) => placeAt(findOffset(document, at));
  const unreadable = (...problems: Problem[]): ConfigFile => ({
    values: undefined,
    problems: problems.map((problem) => ({ path: '', ...problem })),
    placeOf,
  });
  if (document.errors.length > 0) {
    const errors = document.errors.slice(0, MAX_SYNTAX_ERRORS);
    const notation = /\.json$/.test(name) ? 'JSON' : 'YAML';
    return unreadable(
      ...errors.map((error) => ({
        place: placeAt(error.pos[0]),
        sentence: `invalid ${notation}: ${explainSyntaxError(error)}.`,
      })),
    );
  }
  const content = toPlain(document);
  if (content === undefined) {
    const sentence = `${name} has an alias (*name) that is unknown, circular or expands too far.`;
    return unreadable({ place: { source: name }, sentence });
  }
  if (!isRecord(content)) {
    return unreadable({ place: { source: name }, sentence: `${name} must be an object of settings.` });
  }
  const unknown = Object.keys(content).filter((key) => key !== SCHEMA && !settingNames.includes(key));
  const known = Object.entries(content).filter(([key, value]) => settingNames.includes(key) && value !== null);
  const locate = (file: string) => (path === undefined ? file : resolve(dirname(path), file));
  const { values, problems } = resolveReferences(Object.fromEntries(known), env, locate);
  return {
    values,
    problems: [
      ...unknown.map((key) => ({
        path: key,
        place: placeOf([key]),
        sentence: `${unknownName(key, settingNames, 'setting')}.`,
      })),
      ...problems.map(({ path: at, clause }) => ({
        path: at,
        place: placeOf(at.split('.')),
        sentence: `${at} ${clause}.`,
      })),
    ],
    placeOf,
  };
}

/** Returns the position of a setting's name, or of the innermost section around it. */
function findOffset(document: Document.Parsed, path: SettingPath): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const name of path) {
    const section = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(section)
      ? section.items.find(({ key }) => isScalar(key) && String(key.value) === String(name))
      : undefined;
    node = isSeq(section) ? section.items[Number(name)] : pair?.value;
    const range: unknown = Reflect.get(Object(pair?.key ?? node), 'range');
    if (!Array.isArray(range)) {
      return offset;
    }
    offset = Number(range[0]);
  }
  return offset;
}

/** Converts a document to plain values. Returns undefined if its aliases are unknown, circular or expand excessively. */
function toPlain(document: Document.Parsed): unknown {
  try {
    const content: unknown = document.toJS() ?? {};
    JSON.stringify(content);
    return content;
  } catch {
    return undefined;
  }
}
