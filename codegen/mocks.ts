import type { AppOperation } from './documents.ts';

/** Writes the module of `notigraph/testing/msw` with one mock per operation. */
export function writeMocks(operations: readonly Pick<AppOperation, 'name'>[]): string {
  const names = operations.map(({ name }) => name).sort();
  return [
    `import {\n${names.map((name) => `  ${name}Document,\n`).join('')}} from '../../../client/src/index.ts';\n`,
    "import { mockOperation } from './mock-operation.ts';\n",
    '\n/** Mocks of the shipped operations, by name. */\n',
    `export const mocks = {\n${names.map((name) => `  ${name}: mockOperation(${name}Document),\n`).join('')}};\n`,
  ].join('');
}
