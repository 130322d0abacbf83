import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ROOT, read } from './support/docs.ts';

const FORMS = '.github/ISSUE_TEMPLATE';

const label = z.string().min(1);

/** Elements of GitHub's schema of issue forms that ours use. */
const Form = z.strictObject({
  name: label,
  description: label,
  labels: z.array(z.string()),
  body: z.array(
    z.strictObject({
      type: z.enum(['markdown', 'textarea', 'input', 'dropdown']),
      id: z.string().optional(),
      attributes: z.looseObject({}),
      validations: z.strictObject({ required: z.boolean() }).optional(),
    }),
  ),
});

const access = z.enum(['read', 'write']);

/** Elements of GitHub's schema of workflows that ours use. */
const Workflow = z.strictObject({
  name: label,
  on: z.partialRecord(
    z.enum(['push', 'pull_request', 'schedule', 'workflow_call', 'workflow_dispatch']),
    z.union([z.looseObject({}), z.array(z.strictObject({ cron: label }))]).nullable(),
  ),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.unknown(),
  jobs: z.record(
    z.string(),
    z.strictObject({
      needs: z.union([label, z.array(label)]).optional(),
      if: label.optional(),
      'runs-on': z.literal('ubuntu-latest'),
      'timeout-minutes': z.number(),
      permissions: z
        .partialRecord(z.enum(['contents', 'packages', 'id-token', 'attestations', 'pages']), access)
        .optional(),
      environment: label.optional(),
      strategy: z.strictObject({ 'fail-fast': z.boolean(), matrix: z.record(z.string(), z.array(label)) }).optional(),
      outputs: z.record(z.string(), label).optional(),
      steps: z.array(
        z
          .strictObject({
            id: label.optional(),
            name: label.optional(),
            if: label.optional(),
            uses: z
              .string()
              .regex(/^[\w-]+\/[\w-]+@[\da-f]{40}$/) // A tag can be moved.
              .optional(),
            with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
            run: label.optional(),
            env: z.record(z.string(), label).optional(),
          })
          .refine(({ uses, run }) => (uses === undefined) !== (run === undefined)),
      ),
    }),
  ),
});

/** Elements of GitHub's schema of update requests that ours use. */
const Updates = z.strictObject({
  version: z.literal(2),
  updates: z.array(
    z.strictObject({
      'package-ecosystem': label,
      directory: label.optional(),
      directories: z.array(label).optional(),
      schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
      groups: z.record(z.string(), z.strictObject({ 'update-types': z.array(z.enum(['minor', 'patch'])) })).optional(),
    }),
  ),
});

const WORKFLOWS = '.github/workflows';

const readWorkflow = (file: string) => Workflow.parse(parse(read(`${WORKFLOWS}/${file}`)));

it.each(readdirSync(join(ROOT, FORMS)).filter((file) => file !== 'config.yml'))('%s is a valid issue form', (file) => {
  const { body } = Form.parse(parse(read(join(FORMS, file))));
  const ids = body.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(ids.length).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
});

it('the issue chooser links to the security policy', () => {
  expect(JSON.stringify(parse(read(join(FORMS, 'config.yml'))).contact_links)).toContain('SECURITY.md');
});

it.each(readdirSync(join(ROOT, WORKFLOWS)))('%s is a valid workflow, whose jobs need existing ones', (file) => {
  const { jobs } = readWorkflow(file);
  const needed = Object.values(jobs).flatMap(({ needs = [] }) => needs);
  expect(needed.filter((job) => !(job in jobs))).toEqual([]);
});

it('each action is used by one commit, whose version is beside it', () => {
  const uses = readdirSync(join(ROOT, WORKFLOWS)).flatMap((file) =>
    [...read(`${WORKFLOWS}/${file}`).matchAll(/uses: (\S+)@(\S+)(.*)/g)].map(([, action, commit, comment]) => ({
      action,
      commit: `${commit}${/^ # v\d+\.\d+\.\d+$/.exec(comment ?? '')?.[0]}`,
    })),
  );
  expect(uses.length).toBeGreaterThan(20);
  expect(uses.filter(({ commit }) => !/^[\da-f]{40} # v\d/.test(commit))).toEqual([]);
  const commits = Map.groupBy(uses, ({ action }) => action);
  for (const [action, all] of commits) {
    expect([action, new Set(all.map(({ commit }) => commit)).size]).toEqual([action, 1]);
  }
});

it('one scheduled job looks for known vulnerabilities, also in what the image adds, without any permission', () => {
  const { on, jobs } = readWorkflow('audit.yml');
  expect(on).toHaveProperty('schedule');
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = [] }) => run));
  expect(commands).toContain('npm audit --omit=dev');
  for (const folder of readdirSync(join(ROOT, 'deploy')).filter((each) =>
    existsSync(join(ROOT, 'deploy', each, 'package-lock.json')),
  )) {
    expect(commands.join()).toContain(`npm --prefix deploy/${folder} audit`);
  }
  expect(Object.values(jobs).flatMap(({ permissions = [] }) => permissions)).toEqual([]);
});

it('a scheduled job asks two versions of the published service, whose compose file needs no secret', () => {
  const { on, jobs } = readWorkflow('service.yml');
  expect(on).toHaveProperty('schedule');
  const { ask } = jobs;
  expect(ask?.strategy?.matrix.version).toHaveLength(2);
  const commands = ask?.steps.flatMap(({ run = [] }) => run) ?? [];
  expect(commands).toContain('npm run test:service -- --url http://127.0.0.1:3000 --sign-up');
  const files = commands.flatMap((command) => /compose --file (\S+)/.exec(command)?.[1] ?? []);
  expect(new Set(files)).toEqual(new Set(['test/service/compose.yaml']));
  const { services } = parse(read('test/service/compose.yaml'), { merge: true });
  for (const part of ['api', 'worker']) {
    expect(services[part].image).toMatch(/^ghcr\.io\/novuhq\/novu\/\w+:\$\{SERVICE_VERSION\b/);
    expect(services[part].environment).toMatchObject({ PORT: '3000', MONGO_URL: 'mongodb://mongo:27017/service' });
  }
  expect(read('test/service/compose.yaml')).not.toContain('secrets.');
  expect(services.api.ports).toEqual(['127.0.0.1:3000:3000']);
});

it('updates are requested for packages, actions and images', () => {
  const { updates } = Updates.parse(parse(read('.github/dependabot.yml')));
  const ecosystems = updates.map((update) => update['package-ecosystem']);
  expect(ecosystems).toEqual(['npm', 'github-actions', 'docker', 'docker-compose']);
  const locked = updates.flatMap(({ directories = [] }) =>
    directories.map((folder) => join(ROOT, folder, 'package-lock.json')),
  );
  expect(locked.filter((file) => !existsSync(file))).toEqual([]);
});

it('the workflow runs the required checks', () => {
  const { jobs } = readWorkflow('ci.yml');
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
  expect(commands).toContain('.ci/run');
  expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
});

it('a job that may publish runs one command, which can be rehearsed, and no code of dependencies', () => {
  const jobs = Object.entries(readWorkflow('release.yml').jobs).filter(
    ([, { permissions }]) => permissions !== undefined,
  );
  const commands = jobs.map(([job, { steps }]) => [job, ...steps.flatMap(({ run = [] }) => run)]);
  expect(commands).toEqual([
    ['npm', 'npm run release -- npm'],
    ['image', 'npm run release -- image'],
    ['chart', 'npm run release -- chart'],
    ['github', 'npm run release -- github'],
    ['docs'],
  ]);
});
