import { readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, read } from './support/docs.ts';

/** Files and folders whose language is checked. */
const COVERED = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  '.github',
  'bench',
  'codegen',
  'codegen.ts',
  'deploy',
  'docs',
  'examples',
  'schema/operations',
  'schema/schema.graphql',
  'src',
  'test',
];

const EXTENSIONS = new Set(['.css', '.graphql', '.html', '.js', '.md', '.mjs', '.ts', '.tsx', '.yaml', '.yml']);

/** Excluded files: installed, built and generated ones, and this file. */
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist|\.runtime|english\.test\.ts|[\w-]+\.gen\.ts)(?:\/|$)/;

/** Phrases that are hard to read, and their replacements. A space matches any whitespace, including line breaks in comments. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/(?:by|with) commas(?: between)?/, 'comma-separated'],
  [/in its stead/, 'instead'],
  [/made known/, 'popularized'],
  [/at the least number/, 'with as few … as possible'],
  [/brings? the Node/, '`npm ci` installs the Node.js version'],
  [/runs as it is/, 'ready-to-run'],
  [/kept nowhere|or nowhere with/, 'in memory'],
  [/exists? already/, 'already exists'],
  [/belongs to no option/, 'Unexpected argument "…"'],
  [/excludes? each other/, 'Use either … or …, not both.'],
  [/give one of them/, 'use …, or must be …'],
  [/(?:requests|calls|operations) that run(?! on)/, 'in-flight requests'],
  [/is no (?:setting|option)/, 'unknown setting "…"'],
  [/is no (?:e-?mail|address)/, 'Enter a valid …'],
  [/(?<!(?:leave|left|stand|stands) )alone/, 'only'],
  [/(?:be|were|was) had/, 'is unavailable'],
  [/tell apart|told apart/, 'verify, or distinguish'],
  [/(?:be|is) taken back/, "can't be undone"],
  [/may look, but/, 'You have read-only access. Changes require …'],
  [/that needs the permission/, 'requires the scope …'],
  [
    /(?:µs|time|once|calls|requests|operations|notifications|lines?|bar|tokens|seconds) an? (?:day|second|minute|hour|request|operation|call)/,
    'per',
  ],
  [/those that sent/, 'Workflows that sent notifications'],
  [/(?:knows|know|has|have|is) nothing of|nothing of the/, 'none of …, or doesn’t know …'],
  [/whose pages may/, 'allowed CORS origins'],
  [/(?:everything|what) (?:that )?is wrong (?:is said|stands)/, 'All configuration errors are reported together'],
  [/said at once/, 'reported together'],
  [/answers? what a client/, 'returns actionable failures as data'],
  [/second signal ends/, 'Press Ctrl-C again to quit now.'],
  [/every call fails until/, 'requests will fail until the upstream is reachable'],
  [/batches are not served/, 'Batching is not supported'],
  [/manifest of it lists/, 'is in no manifest'],
  [/lets no browser have/, 'is not in clients.browser.scopes'],
  [/e-mail/, 'email'],
];

/** First words of docstrings that start with neither a verb in the third person nor a noun phrase. */
const RIDDLE = /^(?:What|Who|Whose|Whom|Where|How|Is told|Are told)\b/;

/** Creates a pattern that matches a phrase across the lines of a comment. */
const anywhere = ({ source }: RegExp): RegExp =>
  new RegExp(`(?<![\\w-])${source.replaceAll(' ', String.raw`\s+(?:(?:\*|\/\/|#)\s+)?`)}(?![\\w-])`, 'gi');

const SEARCHED = PHRASES.map(([phrase, instead]) => [anywhere(phrase), instead] as const);

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** Blanks the code of a Markdown page, because it can be program output. */
const withoutCode = (page: string): string =>
  page.replace(/^```[\s\S]*?^```|`[^`\n]+`/gm, (code) => code.replace(/[^\n]/g, ' '));

/** Finds the phrases and docstrings of a file to rewrite. @returns one line per problem, with its place, text and replacement */
function findProblems(file: string, content: string): string[] {
  const text = file.endsWith('.md') ? withoutCode(content) : content;
  const phrases = SEARCHED.flatMap(([phrase, instead]) =>
    [...text.matchAll(phrase)].map(
      ({ 0: found, index }) => `${file}:${lineOf(text, index)}: "${found.replace(/\s+/g, ' ')}": write "${instead}"`,
    ),
  );
  const comment = file.endsWith('.graphql') ? /^# (.*)/gm : /\/\*\*\s+(?:\* )?([^\n]*)/g;
  const docstrings = file.endsWith('.md') ? [] : [...text.matchAll(comment)];
  return [
    ...phrases,
    ...docstrings
      .filter(([, start = '']) => RIDDLE.test(start))
      .map(
        ({ index, 1: start }) =>
          `${file}:${lineOf(text, index)}: "${start}": start with a verb in the third person or a noun phrase`,
      ),
  ];
}

const filesBelow = (path: string): string[] =>
  statSync(join(ROOT, path)).isFile()
    ? [path]
    : readdirSync(join(ROOT, path))
        .map((name) => join(path, name))
        .filter((name) => !LEFT_OUT.test(name))
        .flatMap(filesBelow);

const FILES = COVERED.flatMap(filesBelow).filter((file) => EXTENSIONS.has(extname(file)));

describe('plain English', () => {
  it.each(COVERED)('in %s', (path) => {
    const files = FILES.filter((file) => file === path || file.startsWith(`${path}/`));
    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap((file) => findProblems(file, read(file)))).toEqual([]);
  });

  it('finds phrases across lines of a comment, but not in the code of a page', () => {
    const source = '/** What it is. */\n// Settings, by\n// commas.\nconst standAlone = 1;\n';
    expect(findProblems('a.ts', source)).toEqual([
      'a.ts:2: "by // commas": write "comma-separated"',
      'a.ts:1: "What it is. */": start with a verb in the third person or a noun phrase',
    ]);
    expect(findProblems('a.md', '`by commas`\n```\nby commas\n```\nleave it, by commas')).toEqual([
      'a.md:5: "by commas": write "comma-separated"',
    ]);
  });

  it.each(FILES.filter((file) => file.endsWith('.md') && read(file).startsWith('# ')))(
    '%s has a summary below its title',
    (file) => {
      expect(read(file)).toMatch(/^# [^\n]+\n\n[A-Z`][^|]*?[.:]/);
    },
  );
});
