// Prints the schema, or compares two.

import type { GatewayModule } from '../../../../src/modules/module.ts';
import type { Command, CommandLine, Process } from '../command.ts';
import { readFormat } from '../command-line.ts';
import { rejectProblems } from '../config/problem.ts';
import { withoutControls } from '../text.ts';
import { optionsOfServe } from './serve.ts';

async function modulesOf(commandLine: CommandLine, { env }: Process): Promise<readonly GatewayModule[]> {
  const { loadForModules } = await import('../config/load-config.ts');
  const { loadCheckedModules } = await import('../config/load-modules.ts');
  const { config, locate } = loadForModules(commandLine, env);
  return loadCheckedModules(config, locate);
}

export const schemaPrint: Command = {
  name: 'schema print',
  summary: "Prints the gateway's schema.",
  options: [
    { name: 'federation', description: 'Print the schema of the subgraph, for the composition of a federated graph.' },
    ...optionsOfServe('modules', 'config'),
  ],
  async run(commandLine, host) {
    rejectProblems(commandLine.problems);
    const { createSchema, printSdl } = await import('../../../../src/modules/schema.ts');
    const schema = createSchema(undefined, await modulesOf(commandLine, host));
    host.stdout.write(printSdl(schema, commandLine.options.federation !== undefined));
  },
};

export const schemaDiff: Command = {
  name: 'schema diff',
  summary: 'Compares two schemas, and finds operations that break.',
  args: ['OLD', '[NEW]'],
  options: [
    {
      name: 'documents',
      value: 'PATH',
      description:
        'Operations of your app: a manifest of trusted documents, a .graphql file or code with gql`…` or graphql(`…`), or a folder of them. Folders with documents are searched with their subfolders.',
    },
    ...optionsOfServe('modules', 'config'),
    { name: 'format', value: 'text|json', description: 'Form of the output. Default: text.' },
  ],
  details: `OLD and NEW are files in the schema language; - reads one from standard input.
Schemas of subgraphs, with the directives of federation, are not accepted.
Without NEW, OLD is compared with the gateway's schema, as in:

  notigraph schema print > schema.graphql
  notigraph schema diff schema.graphql

With --documents, an operation breaks if it is invalid in NEW, if the type of a
selected field is incompatible, or if a type of its variables is.

Exit code: 0 if nothing breaks, 1 if there are breaking changes, 2 if the input
is invalid. With --documents, it is 1 only if an operation breaks.`,
  async run(commandLine, host) {
    const format = readFormat(commandLine);
    const { args, options, problems } = commandLine;
    rejectProblems(problems);
    const [before = '', after] = args;
    const { diffSchemas, formatDiff } = await import('../schema-diff.ts');
    const diff = await diffSchemas(
      { before, after, documents: options.documents, modules: await modulesOf(commandLine, host) },
      host.stdin,
    );
    host.stdout.write(format === 'json' ? `${JSON.stringify(diff, null, 2)}\n` : withoutControls(formatDiff(diff)));
    if ((diff.operations?.broken ?? diff.breaking).length > 0) {
      host.exitCode = 1;
    }
  },
};
