import { dirname, resolve } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { isRecord } from '../../lib/is-record.ts';
import { unknownSetting } from '../../settings/setting.ts';
import { resolveReferences } from './references.ts';

/** Configuration file, or configuration inline. */
export interface ConfigSource {
  /** Name in messages. */
  name: string;
  text: string;
  /** Path of the file, which other paths in it are relative to. @default the working directory */
  path?: string | undefined;
}

/** Contents of a configuration file. */
export interface ConfigFile {
  /** Settings by name, with paths resolved and environment variables inserted. */
  values: Readonly<Record<string, unknown>>;
  /** Environment variables that the file refers to. */
  variables: readonly string[];
  /** Problems, one sentence each, with the path of the setting. They never contain values, which may be secrets. */
  problems: readonly { path: string; sentence: string }[];
}

/** Parses a configuration file. It doesn't open the files that it refers to. */
export function readConfigFile(
  { name, text, path }: ConfigSource,
  env: Readonly<Record<string, string | undefined>>,
  settingNames: readonly string[],
): ConfigFile {
  const document = parseDocument(text, { prettyErrors: false });
  const [syntaxError] = document.errors;
  if (syntaxError !== undefined) {
    const line = text.slice(0, syntaxError.pos[0]).split('\n').length;
    return unreadable(`${name} is neither YAML nor JSON. Check line ${line}.`);
  }
  const content = toPlain(document);
  if (!isRecord(content)) {
    return unreadable(`${name} must be an object of settings.`);
  }
  const unknown = Object.keys(content).filter((key) => !settingNames.includes(key));
  const known = Object.entries(content).filter(([key, value]) => settingNames.includes(key) && value !== null);
  const locate = (file: string) => (path === undefined ? file : resolve(dirname(path), file));
  const { values, variables, problems } = resolveReferences(Object.fromEntries(known), env, locate);
  return {
    values,
    variables,
    problems: [
      ...unknown.map((key) => ({ path: key, sentence: `${name} has ${unknownSetting(key, settingNames)}.` })),
      ...problems.map(({ path: at, clause }) => ({ path: at, sentence: `${name}: ${at} ${clause}.` })),
    ],
  };
}

/** Converts a document to plain values. Returns undefined if its aliases are circular or expand excessively. */
function toPlain(document: Document.Parsed): unknown {
  try {
    const content: unknown = document.toJS() ?? {};
    JSON.stringify(content);
    return content;
  } catch {
    return undefined;
  }
}

const unreadable = (sentence: string): ConfigFile => ({
  values: {},
  variables: [],
  problems: [{ path: '', sentence }],
});
