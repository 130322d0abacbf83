import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { copyProject } from '../support/project-copy.ts';
import { addLayouts } from './add-layouts.ts';

it('the resource layouts, added to a copy of the project, passes the type check', async () => {
  await using copy = await copyProject();
  await addLayouts(copy);
  await copy.run('codegen.ts');
  await writeFile(
    copy.path('tsconfig.src.json'),
    '{ "extends": "./tsconfig.json", "include": ["src", "packages/cli/src", "packages/sandbox/src"] }',
  );
  expect(await copy.run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.src.json')).toBe('');
});
