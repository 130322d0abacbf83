import { dirname, resolve } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { isRecord } from '../../lib/is-record.ts';
import { type AccessSettings, createAccessSettings } from './access-settings.ts';

/** The names that are looked for in the working directory. */
export const CONFIG_FILES = ['notigraph.config.yaml', 'notigraph.config.yml', 'notigraph.config.json'] as const;

/** A configuration file, or a text in its stead. */
export interface ConfigSource {
  /** What it is called in a sentence. */
  name: string;
  text: string;
  /** Its path, by which others in it are meant; undefined: the working directory. */
  path?: string | undefined;
}

/** What a configuration file says. */
export interface ConfigFile {
  /** Settings that options and variables have too, as they would be written there. */
  settings: Record<string, string>;
  /** Whom the gateway serves and how; undefined: there is something wrong with it. */
  access: AccessSettings | undefined;
  /** The environment variables that it names. */
  variables: string[];
  /** Everything that is wrong, one sentence each. Values are not repeated. */
  problems: string[];
}

/** What names the sandbox's file, and does not only switch it on or off. */
const IS_FILE = /^(?!(?::memory:|on|off|true|false|[01]?)$)/i;

/** The sections; everything else is a setting. */
const SECTIONS = new Set(['clients', 'clientTokens', 'trustedDocuments', 'rateLimits', 'reloadSeconds']);

/**
 * Reads a configuration file; touches nothing else.
 *
 * @param isSetting whether there is a setting of this name
 */
export function readConfigFile(
  { name, text, path }: ConfigSource,
  env: Readonly<Record<string, string | undefined>>,
  isSetting: (name: string) => boolean,
): ConfigFile {
  const document = parseDocument(text, { prettyErrors: false });
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const line = text.slice(0, syntax.pos[0]).split('\n').length;
    return broken(`${name} is neither YAML nor JSON: see line ${line}.`);
  }
  const content = toPlain(document);
  if (!isRecord(content)) {
    return broken(`${name} must hold sections and settings by name.`);
  }
  const locate = (file: string) => (path === undefined ? file : resolve(dirname(path), file));
  const problems: string[] = [];
  const settings: Record<string, string> = {};
  const sections: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(content)) {
    if (SECTIONS.has(key)) {
      sections[key] = value ?? undefined;
    } else if (!isSetting(key)) {
      problems.push(`${name} has ${key}, which is no setting: see docs/configuration.md.`);
    } else if (isRecord(value)) {
      problems.push(`${name}: ${key} must be a single value, or a list.`);
    } else if (typeof value === 'boolean') {
      settings[key] = value ? 'on' : 'off';
    } else if (Array.isArray(value)) {
      settings[key] = value.join(',');
    } else {
      const text = String(value ?? '');
      settings[key] = key === 'sandbox' && IS_FILE.test(text) ? locate(text) : text;
    }
  }
  const parsed = createAccessSettings({ env, locate }).safeParse(sections);
  const found = parsed.error?.issues.map(({ path: at, message }) => `${name}: ${at.join('.')} ${message}.`) ?? [];
  problems.push(...new Set(found));
  return { settings, access: parsed.data, variables: variablesIn(sections), problems };
}

/** undefined: it cannot be one, for it refers to itself without an end. */
function toPlain(document: Document.Parsed): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    return undefined;
  }
}

const broken = (problem: string): ConfigFile => ({
  settings: {},
  access: undefined,
  variables: [],
  problems: [problem],
});

/** Wherever `env: NAME` stands. */
function variablesIn(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap(variablesIn);
  }
  if (!isRecord(value)) {
    return [];
  }
  const own = typeof value.env === 'string' ? [value.env] : [];
  return [...own, ...Object.values(value).flatMap(variablesIn)];
}
