import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import client from '../../packages/client/package.json' with { type: 'json' };
import { hasHelm, helmOnly } from '../support/chart.ts';
import { readDockerfile } from '../support/deploy.ts';
import { ROOT } from '../support/docs.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';
import { digestOf, LOG } from './buildx.ts';

const TOOLS = join(ROOT, 'test/tools/node_modules/bin');

const TARBALL = `notigraph-${manifest.version}.tgz`;
const CLIENT_TARBALL = `notigraph-client-${client.version}.tgz`;

/** Environment without what CI sets. */
const { GITHUB_ACTIONS: _actions, GITHUB_REF_NAME: _name, GITHUB_REF_TYPE: _type, ...ENV } = process.env;

async function release(copy: ProjectCopy, args: readonly string[], env: Record<string, string> = {}) {
  const options = {
    cwd: copy.path(),
    env: { ...ENV, PATH: `${TOOLS}:${ENV.PATH}`, npm_config_prefer_offline: 'true', ...env },
  };
  const program = promisify(execFile)(process.execPath, ['scripts/release.ts', ...args], options);
  return program.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

function commit(copy: ProjectCopy): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: copy.path() });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'Everything');
}

const edit = async (copy: ProjectCopy, file: string, change: (text: string) => string) =>
  writeFile(copy.path(file), change(await copy.read(file)));

it.runIf(hasHelm)(
  `a dry run builds what is published, with valid checksums, and says where it would go${helmOnly}`,
  async () => {
    await using copy = await copyProject();
    // The checks would test this copy again. Its node_modules is a link, which "npm sbom" takes for incomplete.
    await edit(copy, 'package.json', (text) => text.replace(/("check"|"test:quick"): "[^"]+"/g, '$1: "true"'));
    await edit(copy, 'deploy/sbom.ts', (text) => text.replace("'sbom',", "'sbom', '--package-lock-only',"));
    await edit(copy, 'CHANGELOG.md', (text) => text.replace(/(?<=## Unreleased\n)[\s\S]*?(?=\n## )/, ''));
    commit(copy);
    const { code, stdout, stderr } = await release(copy, ['--dry-run', '--quick']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(stdout).toContain('SKIPPED with --quick');
    expect(stdout).toContain('[11/11] checksums: done');

    const sums = await copy.read('dist/release/SHA256SUMS');
    const files = sums
      .trim()
      .split('\n')
      .map((line) => line.split('  '));
    expect(files.map(([, file]) => file)).toEqual([TARBALL, CLIENT_TARBALL, TARBALL.replace('.tgz', '.cdx.json')]);
    for (const [digest, file = ''] of files) {
      const content = await readFile(copy.path('dist/release', file));
      expect(createHash('sha256').update(content).digest('hex')).toBe(digest);
    }
    const packed = execFileSync('tar', ['-tzf', copy.path('dist/release', TARBALL)], { encoding: 'utf8' });
    expect(packed).toContain('package/dist/cli/');
    expect(packed).not.toContain('dist/release');
    const sbom = JSON.parse(await copy.read(`dist/release/${TARBALL.replace('.tgz', '.cdx.json')}`));
    expect(sbom.metadata.component).toMatchObject({ name: manifest.name, version: manifest.version });
    const notes = await copy.read('dist/release/notes.md');
    expect(notes).toContain(`/blob/v${manifest.version}/docs/`);
    expect(notes).not.toMatch(/\]\(docs|^## /m);
    const places = [
      `https://www.npmjs.com/package/${manifest.name}/v/${manifest.version}`,
      `ghcr.io/notigraph/notigraph:${manifest.version}-tracing`,
      `oci://ghcr.io/notigraph/charts/notigraph:${manifest.version}`,
      `https://github.com/notigraph/notigraph/releases/tag/v${manifest.version}`,
    ];
    expect(places.filter((place) => !stdout.includes(place))).toEqual([]);
  },
);

it('a dry run names what is missing', async () => {
  await using copy = await copyProject();
  commit(copy);
  const attempt = async (env = {}) => (await release(copy, ['--dry-run', '--quick'], env)).stderr;
  const tag = { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.0.1' };
  expect(await attempt(tag)).toBe(`The tag v0.0.1 is not v${manifest.version}, the version in package.json.\n`);
  const changelog = `# Changelog\n\n## Unreleased\n\n## ${manifest.version}\n\nText.\n`;
  await writeFile(copy.path('CHANGELOG.md'), changelog);
  expect(await attempt()).toContain('The working tree has changes. Commit or remove them:\n');
  await edit(copy, 'docs/comparison.md', (text) => text.replace(/Looked up on [\d-]+/, 'Looked up on 2026-01-01'));
  expect(await attempt()).toContain('docs/comparison.md was looked up on 2026-01-01: look up the other projects again');
  await edit(copy, 'schema/released.graphql', (text) => `${text}\nscalar Old\n`);
  expect(await attempt()).toContain('schema/released.graphql is not the schema of this version');
  await writeFile(copy.path('CHANGELOG.md'), changelog.replace('Unreleased', 'Unreleased\n\n- Something.'));
  expect(await attempt()).toContain('CHANGELOG.md has lines under "Unreleased"');
  await writeFile(copy.path('CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.0.1\n\nText.\n');
  expect(await attempt()).toBe(`CHANGELOG.md has no entry "## ${manifest.version}".\n`);
  await edit(copy, 'package-lock.json', (text) => text.replace(/"version": "[^"]+"/, '"version": "0.0.1"'));
  expect(await attempt()).toContain('package-lock.json has another version');
});

it('only CI publishes, on the tag of the version', async () => {
  await using copy = await copyProject();
  const refusal = `Only CI publishes, on the tag v${manifest.version}.`;
  for (const args of [[], ['npm'], ['image'], ['chart'], ['github']]) {
    expect(await release(copy, args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(refusal) });
  }
  const branch = { GITHUB_ACTIONS: 'true', GITHUB_REF_NAME: 'main' };
  expect(await release(copy, ['npm'], branch)).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });
  expect(await release(copy, ['npm', '--dry-run'])).toMatchObject({
    code: 0,
    stdout: [TARBALL, CLIENT_TARBALL]
      .map((file) => `  npm publish ./dist/release/${file} --provenance --access public\n`)
      .join(''),
  });
  expect((await release(copy, ['pypi'])).stderr).toContain('Unknown part of a release: "pypi".');
});

describe('the images', () => {
  let copy: ProjectCopy;
  let programs: string;
  beforeAll(async () => {
    copy = await copyProject();
    programs = copy.path('dist/programs');
    await mkdir(programs, { recursive: true });
    const docker = `exec ${process.execPath} ${copy.path('test/package/buildx.ts')} "$@"`;
    for (const [program, script] of Object.entries({ docker, cosign: `echo "cosign $*" >> ${LOG}` })) {
      await writeFile(join(programs, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    return () => copy[Symbol.asyncDispose]();
  });

  /** Publishes them to a registry that forgets something. */
  async function publishImages(forget?: string) {
    await rm(copy.path('dist/release'), { recursive: true, force: true });
    await rm(copy.path(LOG), { force: true });
    await mkdir(copy.path('dist/release'));
    const components = ['pkg:npm/graphql@16.14.0', 'pkg:npm/%40redis/client@6.0.0'].map((purl) => ({ purl }));
    await writeFile(copy.path('dist/release', TARBALL.replace('.tgz', '.cdx.json')), JSON.stringify({ components }));
    const result = await release(copy, ['image'], {
      PATH: `${programs}:${ENV.PATH}`,
      GITHUB_ACTIONS: 'true',
      GITHUB_REF_NAME: `v${manifest.version}`,
      ...(forget !== undefined && { FORGET: forget }),
    });
    const commands = (await copy.read(LOG)).trim().split('\n');
    const commandsWith = (start: string) => commands.filter((command) => command.startsWith(start));
    return { ...result, builds: commandsWith('docker build '), signatures: commandsWith('cosign sign ') };
  }

  const runtime = `ghcr.io/notigraph/notigraph@${digestOf('runtime')}`;
  const bases = new Set(
    readDockerfile()
      .filter(({ name, text }) => name === 'FROM' && text.includes(':'))
      .map(({ text }) => text.split(' ')[0] ?? ''),
  );

  it('are built from digests of their base images, and signed after their SBOM and provenance were checked', async () => {
    const { code, stderr, builds, signatures } = await publishImages();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(builds).toHaveLength(3);
    expect(bases.size).toBe(2);
    const pins = [...bases].map((base) => `--build-context ${base}=docker-image://${base}@${digestOf(base)} `);
    expect(builds.filter((build) => !pins.every((pin) => build.includes(pin)))).toEqual([]);
    expect(signatures).toEqual(
      ['runtime', 'tracing', 'mcp'].map((stage) => `cosign sign --yes ghcr.io/notigraph/notigraph@${digestOf(stage)}`),
    );
  });

  it.each([
    ['pkg:generic/node', 0, `The SBOM of ${runtime} for linux/amd64 lacks pkg:generic/node@.\n`],
    ['pkg:deb', 0, `The SBOM of ${runtime} for linux/amd64 lacks pkg:deb/debian/libc6@.\n`],
    ['redis', 0, `The SBOM of ${runtime} for linux/amd64 lacks pkg:npm/@redis/client@6.0.0.\n`],
    ['sdk-trace@', 1, `${digestOf('tracing')} for linux/amd64 lacks pkg:npm/@opentelemetry/sdk-trace@`],
    [
      'modelcontextprotocol/server@',
      2,
      `${digestOf('mcp')} for linux/amd64 lacks pkg:npm/@modelcontextprotocol/server@`,
    ],
    ['arm64', 0, `${runtime} has no SBOM or provenance for linux/arm64.\n`],
    ['pins', 0, `${runtime} for linux/amd64 was not built from a digest of pkg:docker/node@24-trixie-slim`],
    ['pkg:docker/gcr.io', 0, `The provenance of ${runtime} for linux/amd64 lacks gcr.io/distroless/`],
  ])('are not signed if %s is missing', async (forgotten, signed, message) => {
    const { code, stderr, signatures } = await publishImages(forgotten);
    expect(stderr).toContain(message);
    expect({ code, signed: signatures.length }).toEqual({ code: 1, signed });
  });

  it('are not built if a base image has no digest', async () => {
    const { code, stderr, builds } = await publishImages('distroless');
    expect({ code, builds }).toEqual({ code: 1, builds: [] });
    expect(stderr).toMatch(
      /^No registry has a digest of gcr\.io\/distroless\/\S+, which deploy\/Dockerfile begins with\.\n$/,
    );
  });
});
