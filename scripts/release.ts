// Prepares and publishes a release of the version in package.json.

/**
 *     npm run release -- --dry-run            checks, tests and builds everything, and prints what would be published where
 *     npm run release -- --dry-run --quick    the same without the tests that take long
 *     npm run release -- npm|image|chart|github [--dry-run]    publishes one part of it, in CI
 *
 * It needs only Node.js: the jobs that may publish install no packages.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };
import client from '../packages/client/package.json' with { type: 'json' };

/** Image that a stage of the Dockerfile begins with. */
interface Base {
  /** As in the Dockerfile. */
  image: string;
  digest: string;
}

/** Parts of what BuildKit attests of an image, for each platform. */
interface Attestations {
  SBOM: Record<string, { SPDX: { packages: { externalRefs?: { referenceLocator: string }[] }[] } }>;
  Provenance: Record<string, { SLSA: { buildDefinition: { resolvedDependencies: { uri: string }[] } } }>;
}

/** Reason why the version can't be released, or not here. The message is for the person who releases. */
class ReleaseError extends Error {}

/** Part of a release that has a place of its own. */
interface Target {
  artifact: string;
  place: string;
  publish(): void;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { name, version } = manifest;
const TAG = `v${version}`;

/** Owner and name of the repository. */
const [, owner = '', repository = ''] = /github\.com\/([\w-]+)\/([\w-]+)/.exec(manifest.repository.url) ?? [];
const HOME = `https://github.com/${owner}/${repository}`;
const IMAGE = `ghcr.io/${owner}/${repository}`;
const CHARTS = `oci://ghcr.io/${owner}/charts`;

const FOLDER = 'dist/release';
const TARBALL = `${FOLDER}/${name}-${version}.tgz`;
const CLIENT_TARBALL = `${FOLDER}/${name}-client-${version}.tgz`; // Of @notigraph/client.
const SBOM = `${FOLDER}/${name}-${version}.cdx.json`;
const CHECKSUMS = `${FOLDER}/SHA256SUMS`;
const NOTES = `${FOLDER}/notes.md`;
const CHART = `${FOLDER}/chart/notigraph-${version}.tgz`; // Its name is that of the tarball.

/** Stages of the Dockerfile that are published, with what their tags end with. */
const STAGES = { runtime: '', tracing: '-tracing', mcp: '-mcp' };

const PLATFORMS = ['linux/amd64', 'linux/arm64'];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});
const isDryRun = options['dry-run'];

const read = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

/** Runs a program, and shows or returns what it prints. */
function run([program = '', ...args]: readonly string[], output: 'inherit' | 'pipe' = 'inherit'): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', output, 'inherit'],
  });
  check(status === 0, `"${[program, ...args].join(' ')}" failed${error === undefined ? '' : `: ${error.message}`}.`);
  return stdout ?? '';
}

/** Runs a program that publishes something, or prints its command in a dry run. */
function publish(...command: string[]): void {
  console.log(`  ${command.join(' ')}`);
  if (!isDryRun) {
    run(command);
  }
}

function check(condition: boolean, message: string): void {
  if (!condition) {
    throw new ReleaseError(message);
  }
}

function readChanges(heading: string): string {
  const [, text = ''] = read('CHANGELOG.md').split(`\n## ${heading}\n`);
  return (text.split('\n## ')[0] ?? '').trim();
}

/** Returns the address of an image that was pushed, by its digest. In a dry run, none was. */
function digestOf(metadata: string): string {
  const digest: unknown = isDryRun ? 'sha256:…' : JSON.parse(read(metadata))['containerimage.digest'];
  return `${IMAGE}@${digest}`;
}

/** Returns what a registry knows about an image. */
const inspect = (image: string, part: string) =>
  JSON.parse(run(['docker', 'buildx', 'imagetools', 'inspect', image, '--format', `{{json .${part}}}`], 'pipe'));

/** Looks up the digests of the Dockerfile's base images, so that all images are built from the same ones. A dry run doesn't. */
function lookUpBases(): Base[] {
  const stages = Array.from(
    read('deploy/Dockerfile').matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm),
    ([, from = '', name]) => ({ from, name }),
  );
  const images = new Set(stages.map(({ from }) => from).filter((from) => stages.every(({ name }) => name !== from)));
  return Array.from(images, (image) => {
    const digest: unknown = isDryRun ? 'sha256:…' : inspect(image, 'Manifest').digest;
    check(typeof digest === 'string', `No registry has a digest of ${image}, which deploy/Dockerfile begins with.`);
    return { image, digest: String(digest) };
  });
}

/** Returns the least that the SBOM of an image must list, as package URLs. Versions that the base image decides are left out. */
function listPackages(stage: string): string[] {
  const bundled: { purl: string }[] = JSON.parse(read(SBOM)).components;
  const file = `deploy/${stage}/package-lock.json`;
  const installed: [path: string, { version: string }][] = existsSync(`${ROOT}${file}`)
    ? Object.entries(JSON.parse(read(file)).packages)
    : [];
  return [
    'pkg:generic/node@',
    'pkg:deb/debian/libc6@',
    ...bundled.map(({ purl }) => decodeURIComponent(purl)),
    ...installed
      .filter(([path]) => path !== '')
      .map(([path, entry]) => `pkg:npm/${path.split('node_modules/').at(-1)}@${entry.version}`),
  ];
}

/**
 * Checks that an image's SBOM is complete, and that the image was built from the digests of its base images.
 *
 * BuildKit's scanner lists Node.js, Debian's packages and folders of npm packages, and what the image's `sbom.cdx.json` lists: packages in bundles.
 * The URL of an image that was used contains a digest only if the build asked for the digest.
 */
function checkAttestations(image: string, stage: string, bases: readonly Base[]): void {
  const sboms: Attestations['SBOM'] | null = inspect(image, 'SBOM');
  const provenances: Attestations['Provenance'] | null = inspect(image, 'Provenance');
  for (const platform of PLATFORMS) {
    const packages = sboms?.[platform]?.SPDX.packages ?? [];
    const used = provenances?.[platform]?.SLSA.buildDefinition.resolvedDependencies ?? [];
    check(packages.length > 0 && used.length > 0, `${image} has no SBOM or provenance for ${platform}.`);

    const listed = packages
      .flatMap(({ externalRefs = [] }) => externalRefs)
      .map(({ referenceLocator: purl }) => decodeURIComponent(purl.replace(/\?.*/, '')));
    const missing = listPackages(stage).filter(
      (purl) => !listed.some((each) => each === purl || (purl.endsWith('@') && each.startsWith(purl))),
    );
    check(missing.length === 0, `The SBOM of ${image} for ${platform} lacks ${missing.join(', ')}.`);

    const images = used
      .map(({ uri }) => decodeURIComponent(uri))
      .filter((uri) => uri.startsWith('pkg:docker/') && !uri.startsWith('pkg:docker/docker/buildkit-syft-scanner@'));
    const isBuiltFrom = (uri: string, { digest }: Base) => uri.includes(`digest=${digest}`);
    const movable = images.filter((uri) => !bases.some((base) => isBuiltFrom(uri, base)));
    check(movable.length === 0, `${image} for ${platform} was not built from a digest of ${movable.join(', ')}.`);
    const unused = bases.filter((base) => !images.some((uri) => isBuiltFrom(uri, base))).map((base) => base.image);
    check(unused.length === 0, `The provenance of ${image} for ${platform} lacks ${unused.join(', ')}.`);
  }
}

function publishImages(): void {
  const bases = lookUpBases();
  const pins = bases.flatMap(({ image, digest }) => [
    '--build-context',
    `${image}=docker-image://${image.replace(/@.*/, '')}@${digest}`,
  ]);
  const build = ['build', '--platform', PLATFORMS.join(','), '--file', 'deploy/Dockerfile', ...pins];
  for (const [stage, suffix] of Object.entries(STAGES)) {
    const metadata = `${FOLDER}/image-${stage}.json`;
    const attestations = ['--provenance=mode=max,version=v1', '--sbom=true', '--metadata-file', metadata];
    const target = ['--target', stage, '--tag', `${IMAGE}:${version}${suffix}`];
    publish('docker', 'buildx', ...build, ...target, ...attestations, '--push', '.');
    const image = digestOf(metadata);
    if (!isDryRun) {
      checkAttestations(image, stage, bases);
    }
    publish('cosign', 'sign', '--yes', image);
  }
}

const TARGETS: Readonly<Record<string, Target>> = {
  npm: {
    artifact: `${name} and ${client.name} ${version}, with provenance`,
    place: `https://www.npmjs.com/package/${name}/v/${version}`,
    publish: () => {
      for (const tarball of [TARBALL, CLIENT_TARBALL]) {
        publish('npm', 'publish', `./${tarball}`, '--provenance', '--access', 'public');
      }
    },
  },
  image: {
    artifact: 'image for amd64 and arm64, with SBOM, provenance and signature',
    place: Object.values(STAGES)
      .map((suffix) => `${IMAGE}:${version}${suffix}`)
      .join(' '),
    publish: publishImages,
  },
  chart: {
    artifact: 'Helm chart',
    place: `${CHARTS}/notigraph:${version}`,
    publish: () => publish('helm', 'push', CHART, CHARTS),
  },
  github: {
    artifact: 'tarballs, SBOM, checksums, notes',
    place: `${HOME}/releases/tag/${TAG}`,
    publish: () =>
      publish(
        'gh',
        ...['release', 'create', TAG, '--verify-tag', '--title', version, '--notes-file', NOTES],
        ...[TARBALL, CLIENT_TARBALL, SBOM, CHECKSUMS],
      ),
  },
};

function checkVersion(): void {
  check(/^\d+\.\d+\.\d+$/.test(version), `The version in package.json is ${version}: it must be three numbers.`);
  check(
    lock.version === version && lock.packages[''].version === version,
    `package-lock.json has another version than package.json, ${version}: run "npm install".`,
  );
  check(client.version === version, `packages/client/package.json has another version than package.json, ${version}.`);
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env;
  check(
    GITHUB_REF_TYPE !== 'tag' || GITHUB_REF_NAME === TAG,
    `The tag ${GITHUB_REF_NAME} is not ${TAG}, the version in package.json.`,
  );
}

function checkChangelog(): void {
  check(readChanges(version) !== '', `CHANGELOG.md has no entry "## ${version}".`);
  check(readChanges('Unreleased') === '', `CHANGELOG.md has lines under "Unreleased": move them to "## ${version}".`);
}

function checkSchema(): void {
  const { status } = spawnSync('node', ['codegen.ts', '--check', '--released'], { cwd: ROOT });
  check(
    status === 0,
    'schema/released.graphql is not the schema of this version: run "npm run codegen -- --released".',
  );
}

/** Checked only here: tests of a commit must not begin to fail because time passes. */
function checkComparison(): void {
  const [, date = ''] = /Looked up on (\S+)\./.exec(read('docs/comparison.md')) ?? [];
  const days = (Date.now() - Date.parse(date)) / 86_400_000;
  check(
    days < 180,
    `docs/comparison.md was looked up on ${date}: look up the other projects again, and update the date.`,
  );
}

function checkTree(): void {
  const changes = run(['git', 'status', '--porcelain'], 'pipe').trim();
  check(changes === '', `The working tree has changes. Commit or remove them:\n${changes}`);
}

function test(): void {
  if (options.quick) {
    run(['npm', 'run', '--silent', 'check']);
    run(['npm', 'run', '--silent', 'test:quick']);
    console.log(
      'SKIPPED with --quick: a clean install, long and slow tests, tests of the package, the limits of CPU time.',
    );
  } else {
    run(['.ci/run']);
  }
}

function pack(): void {
  rmSync(`${ROOT}${FOLDER}`, { recursive: true, force: true });
  mkdirSync(`${ROOT}${FOLDER}/chart`, { recursive: true });
  run(['npm', 'pack', '--pack-destination', FOLDER]);
  run(['npm', 'pack', '--workspace', client.name, '--pack-destination', FOLDER]);
  for (const tarball of [TARBALL, CLIENT_TARBALL]) {
    check(existsSync(`${ROOT}${tarball}`), `npm pack did not write ${tarball}.`);
  }
}

const writeSbom = (): void => writeFileSync(`${ROOT}${SBOM}`, run(['node', 'deploy/sbom.ts'], 'pipe'));

function packChart(): void {
  const installed = 'test/tools/node_modules/bin/helm'; // By "npm --prefix test/tools ci".
  const helm = existsSync(`${ROOT}${installed}`) ? installed : 'helm';
  run([helm, 'package', 'deploy/helm', '--destination', `${FOLDER}/chart`]);
}

/** Writes the changelog's entry. Its links lead to the files of the release. */
function writeNotes(): void {
  const text = readChanges(version).replaceAll(/\]\((?!https?:)/g, `](${HOME}/blob/${TAG}/`);
  writeFileSync(`${ROOT}${NOTES}`, `${text}\n`);
}

function writeChecksums(): void {
  const lines = [TARBALL, CLIENT_TARBALL, SBOM].map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(`${ROOT}${file}`))
      .digest('hex');
    return `${digest}  ${file.slice(FOLDER.length + 1)}\n`; // As `sha256sum --check` reads it.
  });
  writeFileSync(`${ROOT}${CHECKSUMS}`, lines.join(''));
}

/** Everything but publishing, in order. What takes long comes after what often fails. */
const STEPS: readonly [title: string, step: () => void][] = [
  ['version', checkVersion],
  ['changelog', checkChangelog],
  ['released schema', checkSchema],
  ['date of the comparison', checkComparison],
  ['clean working tree', checkTree],
  ['checks and tests', test],
  ['tarball', pack],
  ['SBOM', writeSbom],
  ['chart', packChart],
  ['notes', writeNotes],
  ['checksums', writeChecksums],
];

function rehearse(): void {
  for (const [index, [title, step]] of STEPS.entries()) {
    const start = performance.now();
    console.log(`[${index + 1}/${STEPS.length}] ${title}`);
    step();
    console.log(
      `[${index + 1}/${STEPS.length}] ${title}: done in ${((performance.now() - start) / 1_000).toFixed(1)} s`,
    );
  }
  console.log(`\n${read(CHECKSUMS)}\nA release of ${name} ${version} would publish:\n`);
  for (const [target, { artifact, place, publish: print }] of Object.entries(TARGETS)) {
    console.log(`${target.padEnd(7)} ${artifact}\n        ${place}`);
    print();
  }
}

function publishTarget(target: string): void {
  const { GITHUB_ACTIONS, GITHUB_REF_NAME } = process.env;
  const isAllowed = isDryRun || (GITHUB_ACTIONS === 'true' && GITHUB_REF_NAME === TAG);
  check(isAllowed, `Only CI publishes, on the tag ${TAG}. To see what it would do, add --dry-run.`);
  TARGETS[target]?.publish();
}

try {
  const [target = ''] = positionals;
  if (target in TARGETS) {
    publishTarget(target);
  } else {
    const usage = `Use --dry-run, with --quick to skip long tests, or one of ${Object.keys(TARGETS).join(', ')}.`;
    check(target === '', `Unknown part of a release: "${target}". ${usage}`);
    check(isDryRun, `Only CI publishes, on the tag ${TAG}. ${usage}`);
    rehearse();
  }
} catch (error) {
  if (!(error instanceof ReleaseError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
