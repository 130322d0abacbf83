import { readdirSync, readFileSync, statSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };

/** The elements of package.json that other files repeat. */
export type Manifest = Pick<typeof manifest, 'name' | 'version' | 'repository'>;

/** Files and folders that name the package, its version, its repository or its image. */
const REFERRING = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'bench/subjects.ts',
  'deploy',
  'docs',
  'examples',
  'packages',
  'src',
  'test',
];

const TEXT = /(?<!\.gen)\.(?:json|md|svg|ts|tsx|ya?ml)$|Dockerfile$/;

/** Built and installed files, and the test of this module. */
const IGNORED = /\/(?:node_modules|\.[\w-]+|dist|package-references\.test\.ts)$/;

const SEMVER = String.raw`\d+\.\d+\.\d+`;

/** Returns the file of `npm pack`. */
export const tarballOf = ({ name, version }: Pick<Manifest, 'name' | 'version'>): string =>
  `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;

/**
 * Writes name, version and addresses of the package wherever a text refers to them.
 *
 * The name can get a scope, and the repository another owner. "notigraph" on its own, as in the command or the configuration file, is the
 * product's name and stays.
 */
export function writePackageReferences(text: string, to: Manifest = manifest): string {
  const { name, version } = to;
  const owner = /github\.com\/([\w-]+)\//.exec(to.repository.url)?.[1] ?? '';
  const references: readonly [reference: RegExp, text: string][] = [
    [/(?<=(?:from|import|import\(|require\()\s?['"])(?:@[\w-]+\/)?notigraph(?=['"])/g, name],
    [/(?<![\w/-])(?:@[\w-]+\/)?notigraph(?=\/(?:client|modules|testing)\b)/g, name],
    [/(?<=node_modules\/|(?:node_modules'|packages), ')(?:@[\w-]+\/)?notigraph(?=[/'])/g, name],
    [new RegExp(String.raw`(?<=[/\s])(?:[\w-]+-)?notigraph-${SEMVER}\.tgz`, 'g'), tarballOf(to)],
    [/(?<=(?:github\.com|ghcr\.io)\/|--repo )[\w-]+(?=\/(?:charts\/)?notigraph\b)/g, owner],
    [
      new RegExp(
        String.raw`(?<=\/(?:download|tags)\/v|\?ref=v|\bnotigraph:|charts\/notigraph --version )${SEMVER}`,
        'g',
      ),
      version,
    ],
    [
      new RegExp(
        `(?<=>Notigraph |newTag: |app\\.kubernetes\\.io/version: |image\\.version="|\\bVERSION = ')${SEMVER}`,
        'g',
      ),
      version,
    ],
    [new RegExp(`(?<=^(?:appVersion|version): )${SEMVER}`, 'gm'), version],
  ];
  return references.reduce((written, [reference, current]) => written.replaceAll(reference, current), text);
}

const ROOT = new URL('../', import.meta.url);

const filesBelow = (path: string): string[] =>
  statSync(new URL(path, ROOT)).isFile()
    ? [path]
    : readdirSync(new URL(path, ROOT))
        .map((name) => `${path}/${name}`)
        .filter((file) => !IGNORED.test(file))
        .flatMap(filesBelow);

/** Returns the files that refer to the package, with current references. */
export const readReferringFiles = (): Record<string, string> =>
  Object.fromEntries(
    REFERRING.flatMap(filesBelow)
      .filter((file) => TEXT.test(file))
      .map((file) => [file, writePackageReferences(readFileSync(new URL(file, ROOT), 'utf8'))]),
  );
