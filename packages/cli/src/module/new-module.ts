// Writes a module from an OpenAPI document, and prints what it contains and what it doesn't.

import { resolve } from 'node:path';
import { caught } from '../../../../src/lib/caught.ts';
import { toPrintable } from '../../../../src/lib/text.ts';
import { defineModule, ModuleError } from '../../../../src/modules/module.ts';
import { createSchema } from '../../../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../../../src/modules/shipped.ts';
import type { CommandLine, Process } from '../command.ts';
import { loadForModules } from '../config/load-config.ts';
import { loadModules } from '../config/load-modules.ts';
import { ConfigError, writeNamedFile } from '../config/problem.ts';
import { isTaken } from '../files.ts';
import { OpenApiDocument } from './document.ts';
import { Planner } from './plan.ts';
import type { EndpointPlan } from './types.ts';
import { writeModule } from './write.ts';

export async function runNewModule(commandLine: CommandLine, host: Process): Promise<void> {
  const { args, options, problems: usage } = commandLine;
  const { cwd, stdout } = host;
  const [name = ''] = args;
  const { openapi, path = '*' } = options;
  const output = options.output ?? `${name}.ts`;
  const file = resolve(cwd(), output);
  const problems = [
    ...usage,
    ...(args.length > 0 ? findNameProblems(name) : []),
    ...(openapi === undefined && usage.length === 0 ? ['--openapi is required. See notigraph module new --help.'] : []),
    ...(args.length > 0 && isTaken(file) ? [`${output} already exists. Remove it first, or use --output.`] : []),
  ];
  if (problems.length > 0 || openapi === undefined) {
    throw new ConfigError(problems);
  }
  const document = new OpenApiDocument(resolve(cwd(), openapi), openapi);
  const schema = createSchema(undefined, await loadOthers(file, commandLine, host));
  const pattern = new RegExp(`^${path.replace(/[^\w*]/g, '\\$&').replace(/\*+/g, '.*')}$`, 's');
  const plan = new Planner(document, name, schema).plan((route) => pattern.test(route));
  const skipped = document.skipped.map(({ part, reason }) => `  ${toPrintable(part)}: ${toPrintable(reason)}.\n`);
  const list = skipped.length > 0 ? `\nSkipped:\n${skipped.join('')}` : '';
  if (plan.endpoints.length === 0) {
    stdout.write(list);
    const reason = skipped.length > 0 ? 'everything was skipped' : 'no path of the document matches';
    throw new ConfigError([`Nothing was written: ${reason}.`]);
  }
  const code = writeModule(plan);
  writeNamedFile(file, code, output);
  const todos = code.split('// TODO: ').length - 1;
  stdout.write(`Wrote ${output}:
${plan.endpoints.map(describeEndpoint).join('')}${list}
Next steps:
  Decide what its TODO comments ask: there ${todos === 1 ? 'is 1' : `are ${todos}`}.
  Name the file in the setting modules, and run npx notigraph check. See docs/modules.md.
`);
}

/** Loads the shipped modules and the configured ones, except that of a file. Their names and endpoints are not used again. */
async function loadOthers(file: string, commandLine: CommandLine, { cwd, env }: Process) {
  const { config, locate } = loadForModules(commandLine, env);
  const names = config.modules.filter((name) => resolve(cwd(), name) !== file);
  const modules = await loadModules({ ...config, modules: [...new Set([...names, ...SHIPPED_MODULES])] }, locate);
  return modules.filter(({ name }) => name !== commandLine.args[0]); // A module can be written again.
}

function findNameProblems(name: string): string[] {
  if (!/^[a-z][a-z0-9]{0,31}(?:-[a-z0-9]{1,31}){0,3}$/.test(name)) {
    return ['NAME must consist of lowercase letters, digits and hyphens, such as topics.'];
  }
  const isTaken = caught(ModuleError, () => createSchema(undefined, [defineModule(name, () => undefined)]));
  return isTaken ? ['NAME is that of a built-in module. Use another one.'] : [];
}

const describeEndpoint = ({ method, route, field }: EndpointPlan): string =>
  `  ${method === 'GET' ? 'Query' : 'Mutation'}.${field}: ${method} ${route}\n`;
