import { createManifestFiles } from '../../graphql/documents/manifest-files.ts';
import { shippedManifest } from '../../graphql/documents/shipped-operations.ts';
import { createSchema } from '../../graphql/schema.ts';
import { readTools } from '../../graphql/tools/read-tools.ts';
import type { Config } from '../config/create-config.ts';
import type { CheckedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Tools of a configuration, with their problems. */
export type ConfiguredTools = ReturnType<typeof readTools>;

/** Returns the problems of tools, each of which prevents a start. */
export function findToolProblems({ problems }: ConfiguredTools, { locate }: Pick<CheckedConfig, 'locate'>): Problem[] {
  return problems.map(({ path, problem }) => {
    const { place, name } = locate(['mcp', ...path]);
    return { place, sentence: `${name}${path[0] === 'manifest' ? ':' : ''} ${problem}.` };
  });
}

/** Reads the tools of a configuration; undefined if it has none. */
export function readConfiguredTools(config: Config): ConfiguredTools | undefined {
  if (config.mcp === undefined) {
    return undefined;
  }
  const { manifest = shippedManifest(), mutations } = config.mcp;
  const manifests = createManifestFiles([manifest]).manifests();
  return readTools(manifests, mutations, { schema: createSchema(config), limits: config });
}
