// Stands in for `docker buildx`, which needs a daemon and registries: pushes images to a folder, with the parts of their attestations that a release reads,
// as BuildKit writes them. `FORGET` is text that its registries don't know: images, packages or platforms with it are missing.

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Digest of each image of these registries. */
export const digestOf = (image: string): string => `sha256:${createHash('sha256').update(image).digest('hex')}`;

/** Command lines, in the working directory. */
export const LOG = 'commands.log';

const forget = process.env.FORGET ?? 'nothing';

const valuesOf = (args: readonly string[], option: string): string[] =>
  args.filter((_, index) => args[index - 1] === option);

/** Returns the entries of an image's SBOM. The scanner finds Node.js, packages of Debian, folders of packages, and the packages that SBOMs in the image list. */
function scan(stage: string) {
  const [ofBundles = ''] = globSync('dist/release/*.cdx.json');
  const { components } = JSON.parse(readFileSync(ofBundles, 'utf8'));
  const lock = `deploy/${stage}/package-lock.json`;
  const installed = existsSync(lock)
    ? Object.entries<{ version: string }>(JSON.parse(readFileSync(lock, 'utf8')).packages)
    : [];
  return [
    'pkg:generic/node@24.21.0',
    'pkg:deb/debian/libc6@2.41-12%2Bdeb13u3?arch=amd64&distro=debian-13&upstream=glibc',
    ...components.map(({ purl }: { purl: string }) => purl),
    ...installed
      .filter(([path]) => path !== '')
      .map(([path, { version }]) => `pkg:npm/${path.replace(/.*node_modules\//, '').replace('@', '%40')}@${version}`),
  ]
    .filter((purl) => !purl.includes(forget))
    .map((referenceLocator) => ({ externalRefs: [{ referenceType: 'purl', referenceLocator }] }));
}

/** Returns the images that a build used. A digest is part of the URL if the build asked for the digest. */
const listImages = (contexts: readonly string[]) =>
  [
    'pkg:docker/docker/buildkit-syft-scanner@stable-1?platform=linux%2Famd64',
    ...contexts
      .map((context) => context.split('=docker-image://'))
      .map(([image = '', pinned = '']) => {
        const digest = forget === 'pins' ? '' : `digest=${pinned.slice(pinned.indexOf('@') + 1)}&`;
        return `pkg:docker/${image.replace(':', '@')}?${digest}platform=linux%2Famd64`;
      }),
  ]
    .filter((uri) => !uri.includes(forget))
    .map((uri) => ({ uri }));

function build(args: readonly string[]): void {
  const [stage = ''] = valuesOf(args, '--target');
  const [metadata = ''] = valuesOf(args, '--metadata-file');
  const [platforms = ''] = valuesOf(args, '--platform');
  const perPlatform = (value: unknown) =>
    Object.fromEntries(
      platforms
        .split(',')
        .filter((platform) => !platform.includes(forget))
        .map((platform) => [platform, value]),
    );
  const resolvedDependencies = listImages(valuesOf(args, '--build-context'));
  const attestations = {
    SBOM: perPlatform({ SPDX: { packages: [{ name: 'the image itself' }, ...scan(stage)] } }),
    Provenance: perPlatform({ SLSA: { buildDefinition: { resolvedDependencies } } }),
  };
  writeFileSync(`dist/release/${digestOf(stage)}.json`, JSON.stringify(attestations));
  writeFileSync(metadata, JSON.stringify({ 'containerimage.digest': digestOf(stage) }));
}

/** Prints the part of an image that `--format` asks for. */
function inspect([, image = '', , format = '']: readonly string[]): void {
  const [, part = ''] = /json \.(\w+)/.exec(format) ?? [];
  if (part === 'Manifest') {
    process.stdout.write(JSON.stringify(image.includes(forget) ? {} : { digest: digestOf(image) }));
  } else {
    const [, digest] = image.split('@');
    process.stdout.write(JSON.stringify(JSON.parse(readFileSync(`dist/release/${digest}.json`, 'utf8'))[part]));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, command = '', ...args] = process.argv.slice(2);
  appendFileSync(LOG, `${['docker', command, ...args].join(' ')}\n`);
  (command === 'build' ? build : inspect)(args);
}
