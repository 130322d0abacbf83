// Prints the SBOM of what the image has of npm: the packages in its bundles and folders.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

/** Component of an SBOM in the CycloneDX format. */
interface Component {
  'bom-ref': string;
  name: string;
}

/** The parts of an SBOM that this program changes. */
interface Sbom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Packages that the image has as folders. */
const INSTALLED = ['graphql', '@opentelemetry/api', '@redis/client'];

/** Returns the packages in a bundle, as `name@version`. Building it writes their licenses. */
const packagesIn = (bundle: string): string[] =>
  Array.from(
    readFileSync(`${ROOT}/dist/${bundle}/third-party-licenses.md`, 'utf8').matchAll(/^## (\S+) - (\d\S*) \(/gm),
    ([, name, version]) => `${name}@${version}`,
  );

const all: Sbom = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }),
);

// `npm sbom --omit dev` would list what the example app needs, and lack the packages in the bundles that are development dependencies.
const contained = new Set(['cli', 'graphiql'].flatMap(packagesIn));
const components = all.components.filter(({ 'bom-ref': ref, name }) => contained.has(ref) || INSTALLED.includes(name));
const refs = new Set(components.map((component) => component['bom-ref']));
const root = all.metadata.component;
const sbom: Sbom = {
  ...all,
  metadata: { ...all.metadata, component: { ...root, name: manifest.name } },
  components,
  dependencies: all.dependencies
    .filter(({ ref }) => refs.has(ref) || ref === root['bom-ref'])
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
