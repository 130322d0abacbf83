import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type GraphQLObjectType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../packages/cli/src/command-line.ts';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { runCommand } from '../support/command.ts';
import { blocks, GATEWAY, names, read, rows } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { findPrograms } from '../support/programs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { shippedModules, shippedSchema } from '../support/shipped-documents.ts';

const PAGE = read('docs/from-novu.md');
const COVERED = rows(PAGE, /^\| REST call \| GraphQL/m);
const MISSING = rows(PAGE, /^\| you need \| REST calls/m);
const PYTHON = findPrograms('python3');

/** The fields of types that make calls, with the REST calls in their descriptions. */
const fieldsOf = (types: readonly (GraphQLObjectType | null | undefined)[], prefixOf = (_type: string) => '') =>
  types.flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map(({ name, description }) => ({
      name: `${prefixOf(type?.name ?? '')}${name}`,
      calls: names(description ?? '')
        .filter((text) => /^[A-Z]+ \//.test(text))
        .map((call) => call.replace(/\?.*/, '')),
    })),
  );

/** The queries and mutations of the built-in and shipped modules, and the fields of records that make calls which none of them makes. */
const ROOT_TYPES = [shippedSchema.getQueryType(), shippedSchema.getMutationType()];
const ROOT_FIELDS = fieldsOf(ROOT_TYPES);
const FIELDS = [
  ...ROOT_FIELDS,
  ...fieldsOf(
    Object.values(shippedSchema.getTypeMap())
      .filter(isObjectType)
      .filter((type) => !ROOT_TYPES.includes(type)),
    (type) => `${type}.`,
  ).filter(({ calls }) => calls.some((call) => ROOT_FIELDS.every((field) => !field.calls.includes(call)))),
];

const rowsOfCall = (call: string) => COVERED.filter(([cell]) => names(cell).includes(call));

it('every field is in the row of each of its REST calls, with its module', () => {
  expect(FIELDS.length).toBeGreaterThanOrEqual(29);
  for (const { name, calls } of FIELDS) {
    expect([name, calls.map((call) => rowsOfCall(call).length)]).toEqual([name, calls.map(() => 1)]);
    for (const [, fields = '', modules = ''] of calls.flatMap(rowsOfCall)) {
      expect(names(fields)).toContain(name);
      for (const module of modules.split(', ')) {
        const added = shippedModules.find((each) =>
          SHIPPED_MODULES[shippedModules.indexOf(each)]?.endsWith(`/${module}`),
        );
        expect([name, module, added !== undefined]).toEqual([name, module, module !== '']);
      }
    }
  }
  expect(COVERED.flatMap(([, fields]) => names(fields)).toSorted()).toEqual(
    FIELDS.flatMap(({ name, calls }) => calls.map(() => name)).toSorted(),
  );
});

describe('what is not covered', () => {
  it('is in no field', () => {
    const missing = MISSING.flatMap(([, calls]) => names(calls));
    expect(missing.length).toBeGreaterThan(12);
    expect(missing.filter((call) => FIELDS.some(({ calls }) => calls.includes(call)))).toEqual([]);
  });

  it.each(MISSING.map(([need = '', calls, command]) => [need, names(calls), names(command)] as const))(
    'the command for %s writes a module with its calls',
    async (_, calls, [name = '', path = '']) => {
      await using folder = await createTemporaryFolder();
      const operationOf = (call: string) => ({
        [call.split(' ')[0]?.toLowerCase() ?? '']: {
          operationId: call.replace(/\W+/g, '_'),
          parameters: [...call.matchAll(/{(\w+)}/g)].map(([, parameter]) => ({
            ...{ name: parameter, in: 'path', required: true },
            schema: { type: 'string' },
          })),
          responses: { 200: { description: 'ok' } },
        },
      });
      const all = MISSING.flatMap(([, each]) => names(each));
      const byPath = Map.groupBy(all, (call) => call.split(' ')[1] ?? '');
      const paths = Object.fromEntries(
        [...byPath].map(([each, of]) => [each, Object.assign({}, ...of.map(operationOf))]),
      );
      const document = { openapi: '3.0.3', info: { title: 'Novu', version: '1' }, paths };
      await writeFile(folder.path('openapi.json'), JSON.stringify(document));
      const args = ['module', 'new', name, '--openapi', 'openapi.json', '--path', path];
      const { code, stdout, stderr } = await runCommand({ cwd: folder.path(), args });
      expect([code, stderr]).toEqual([0, '']);
      const written = [...stdout.matchAll(/: ([A-Z]+ \/\S+)$/gm)].map(([, call]) => call);
      expect(written.toSorted()).toEqual(calls.toSorted());
    },
  );
});

it('the commands exist, and the first one names all shipped modules', () => {
  const lines = blocks(PAGE, 'sh').map((block) => block.replaceAll("'", '').trim().split(' ').slice(2));
  expect(lines).toHaveLength(3);
  const commandLines = lines.map((argv) => readCommandLine(argv, COMMANDS));
  expect(commandLines[0]?.options.modules).toBe(SHIPPED_MODULES.join());
});

it.runIf(PYTHON.areThere)(`the Python program prints what the page shows${PYTHON.note}`, async () => {
  await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
  const program = blocks(PAGE, 'python')[0] ?? '';
  const env = { ...CHILD_ENV, NOVU_SECRET_KEY: SANDBOX_KEYS.development };
  const text = program.replace(`${GATEWAY}/graphql`, new URL(gateway.url).href);
  const { stdout } = await promisify(execFile)('python3', ['-c', text], { env });
  expect(stdout.trim()).toBe(/^# (.*)$/m.exec(program)?.[1]);
  expect(gateway.upstream().map(({ path }) => path)).toEqual(['/v1/events/trigger']);
});
