import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMap, isSeq, parse, parseDocument } from 'yaml';
import { collectMigrations } from '../../src/sandbox/open-database.ts';
import { resources } from '../../src/sandbox/resources/index.gen.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOPICS = fileURLToPath(new URL('topics/', import.meta.url));

/** The files of the noun `topics`, besides its paths in the OpenAPI document. */
const FILES = [
  'src/graphql/types/topic.ts',
  'src/upstream/resources/topics.ts',
  'src/sandbox/resources/topics.ts',
  'schema/operations/Topics.graphql',
];

/** A copy of this project in a temporary folder. Disposing removes it. */
export interface ProjectCopy extends AsyncDisposable {
  path(...names: string[]): string;
  read(file: string): Promise<string>;
  /** Runs a program of the project on this Node.js, and returns its output. Rejects if it fails. */
  run(...args: string[]): Promise<string>;
}

/** Copies all files of the project that git knows or would add. Packages are linked. */
export async function copyProject(): Promise<ProjectCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-copy-'));
  const path = (...names: string[]) => join(folder, ...names);
  const { stdout } = await promisify(execFile)(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
      maxBuffer: 10_000_000,
    },
  );
  const files = stdout
    .split('\0')
    .filter((file) => file !== '' && file !== 'node_modules' && existsSync(join(ROOT, file)));
  await Promise.all(files.map((file) => cp(join(ROOT, file), path(file))));
  await symlink(join(ROOT, 'node_modules'), path('node_modules'), 'dir');
  return {
    path,
    read: (file) => readFile(path(file), 'utf8'),
    async run(...args) {
      const result = await promisify(execFile)(process.execPath, args, { cwd: folder });
      return result.stdout + result.stderr;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Adds the noun `topics`: its paths in the OpenAPI document and four files. */
export async function addTopics(copy: ProjectCopy): Promise<void> {
  for (const file of FILES) {
    const next = (collectMigrations(resources).at(-1)?.version ?? 0) + 1;
    const text = await readFile(join(TOPICS, file), 'utf8');
    await mkdir(dirname(copy.path(file)), { recursive: true });
    await writeFile(copy.path(file), text.replace('NEXT_VERSION', String(next)));
  }
  const document = parseDocument(await copy.read('schema/upstream.openapi.yaml'));
  const { tags, paths, components } = parse(await readFile(join(TOPICS, 'openapi.yaml'), 'utf8'));
  const [allTags, allPaths, schemas] = [['tags'], ['paths'], ['components', 'schemas']].map((at) => document.getIn(at));
  if (!isSeq(allTags) || !isMap(allPaths) || !isMap(schemas)) {
    throw new TypeError('The OpenAPI document lacks tags, paths or schemas.');
  }
  for (const tag of tags) {
    allTags.add(document.createNode(tag));
  }
  for (const [map, entries] of [
    [allPaths, paths],
    [schemas, components.schemas],
  ] as const) {
    for (const [key, value] of Object.entries(entries)) {
      map.set(key, document.createNode(value));
    }
  }
  await writeFile(copy.path('schema/upstream.openapi.yaml'), document.toString());
}
