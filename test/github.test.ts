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

const Workflow = z.object({
  permissions: z.strictObject({ contents: z.literal('read') }),
  jobs: z.record(z.string(), z.object({ steps: z.array(z.object({ run: z.string().optional() })) })),
});

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
  const { jobs } = Workflow.parse(parse(read('.github/workflows/ci.yml')));
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
  expect(commands).toContain('.ci/run');
  expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
});
