import { accessSync, constants, readdirSync } from 'node:fs';
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

const Step = z.union([z.object({ run: z.string() }), z.object({ uses: z.string().regex(/@v\d+/) })]);

const Workflow = z.object({
  permissions: z.strictObject({ contents: z.literal('read') }),
  jobs: z.record(
    z.string(),
    z.object({ permissions: z.record(z.string(), z.string()).optional(), steps: z.array(Step) }),
  ),
});

const readWorkflow = (name: string) => Workflow.parse(parse(read(join('.github/workflows', name)))).jobs;

const commandsOf = ({ steps }: { steps: z.infer<typeof Step>[] }): string[] =>
  steps.flatMap((step) => ('run' in step ? step.run : []));

it.each(readdirSync(join(ROOT, FORMS)).filter((file) => file !== 'config.yml'))('%s is a valid issue form', (file) => {
  const { body } = Form.parse(parse(read(join(FORMS, file))));
  const ids = body.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(ids.length).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
});

it('the issue chooser links to the security policy', () => {
  expect(JSON.stringify(parse(read(join(FORMS, 'config.yml'))).contact_links)).toContain('SECURITY.md');
});

it('the workflow runs the required checks', () => {
  const commands = Object.values(readWorkflow('ci.yml')).flatMap(commandsOf);
  expect(commands).toContain('.ci/run');
  expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
});

it('the documentation is built without rights, and published by a job that runs nothing else', () => {
  const { build, publish } = readWorkflow('docs.yml');
  expect(build && commandsOf(build)).toEqual(['npm ci', 'npm run docs:build']);
  expect(build?.permissions).toBeUndefined();
  expect(publish).toMatchObject({
    permissions: { pages: 'write', 'id-token': 'write' },
    steps: [{ uses: 'actions/deploy-pages@v4' }],
  });
});
