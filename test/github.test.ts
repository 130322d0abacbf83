import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ROOT, read } from './support/docs.ts';

const FORMS = '.github/ISSUE_TEMPLATE';

const id = z.string().regex(/^[\w-]+$/);
const validations = z.strictObject({ required: z.boolean() }).optional();
const label = z.string().min(1);
const description = z.string().optional();

/** GitHub's schema of issue forms, limited to the elements that ours use. */
const Form = z.strictObject({
  name: label,
  description: label,
  labels: z.array(z.string()),
  body: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: label }) }),
      z.strictObject({
        type: z.literal('textarea'),
        id,
        attributes: z.strictObject({ label, description, render: z.string().optional() }),
        validations,
      }),
      z.strictObject({ type: z.literal('input'), id, attributes: z.strictObject({ label, description }), validations }),
      z.strictObject({
        type: z.literal('dropdown'),
        id,
        attributes: z.strictObject({ label, description, options: z.array(label).min(1) }),
        validations,
      }),
    ]),
  ),
});

const Chooser = z.strictObject({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.strictObject({ name: label, url: z.url({ protocol: /^https$/ }), about: label })),
});

const Workflow = z.strictObject({
  name: label,
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.string() }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      'runs-on': z.string(),
      'timeout-minutes': z.number(),
      steps: z.array(
        z.union([
          z.strictObject({ uses: z.string().regex(/^[\w-]+\/[\w-]+@v\d+$/), with: z.record(z.string(), z.unknown()) }),
          z.strictObject({ name: label, run: z.string() }),
        ]),
      ),
    }),
  ),
});

it.each(readdirSync(join(ROOT, FORMS)).filter((file) => file !== 'config.yml'))('%s is a valid issue form', (file) => {
  const { body } = Form.parse(parse(read(join(FORMS, file))));
  const ids = body.flatMap((element) => ('id' in element ? [element.id] : []));
  expect(ids.length).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
});

it('the issue chooser links to the security policy', () => {
  const { contact_links: links } = Chooser.parse(parse(read(join(FORMS, 'config.yml'))));
  expect(links.map(({ about }) => about).join()).toContain('SECURITY.md');
});

it('the workflow runs the required checks', () => {
  const { jobs } = Workflow.parse(parse(read('.github/workflows/ci.yml')));
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => ('run' in step ? step.run : [])));
  expect(commands).toContain('.ci/run');
  expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
});
