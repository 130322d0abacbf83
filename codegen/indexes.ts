import { readdirSync } from 'node:fs';

/** File of a noun, in a folder that has one file per noun. */
interface NounFile {
  /** Name without the extension: `notification-groups`. */
  name: string;
  /** Name as an identifier: `notificationGroups`. */
  identifier: string;
}

function listFiles(folder: URL): NounFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort()
    .map((name) => ({ name, identifier: name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) }));
}

/** Writes the index of `src/sandbox/resources`: a list of what each file exports as `resource`. */
export function writeSandboxIndex(folder: URL): string {
  const files = listFiles(folder);
  return [
    "import type { Resource } from '../resource.ts';\n",
    ...files.map(({ name, identifier }) => `import { resource as ${identifier} } from './${name}.ts';\n`),
    '\n/** The resources of the sandbox, one per file of this folder. */\n',
    `export const resources: readonly Resource[] = [${files.map(({ identifier }) => identifier).join(', ')}];\n`,
  ].join('');
}

/**
 * Writes the index of `src/upstream/endpoints`: a function that binds every exported endpoint to a client.
 *
 * @throws {Error} if two files export endpoints with the same name
 */
export async function writeUpstreamIndex(folder: URL): Promise<string> {
  const files = listFiles(folder);
  const bindings = new Map<string, string>();
  for (const { name, identifier } of files) {
    const module: Record<string, unknown> = await import(new URL(`${name}.ts`, folder).href);
    for (const endpoint of Object.keys(module).filter((key) => typeof module[key] === 'function')) {
      if (bindings.has(endpoint)) {
        throw new Error(`Two files in src/upstream/endpoints export ${endpoint}.`);
      }
      const source = `${identifier}.${endpoint}`;
      bindings.set(
        endpoint,
        `\n  ${endpoint}(...args: Rest<typeof ${source}>) {\n    return ${source}(this.#client, ...args);\n  }\n`,
      );
    }
  }
  return [
    "import type { UpstreamClient } from '../client.ts';\n",
    ...files.map(({ name, identifier }) => `import * as ${identifier} from './${name}.ts';\n`),
    '\n/** Parameters of an endpoint without the client. */\n',
    'type Rest<F> = F extends (client: UpstreamClient, ...args: infer Args) => unknown ? Args : never;\n',
    "\n/** Every endpoint, bound to one caller's client. Each operation creates one, so the endpoints are methods, which are shared. */\n",
    'export class Endpoints {\n  readonly #client: UpstreamClient;\n\n',
    '  constructor(client: UpstreamClient) {\n    this.#client = client;\n  }\n',
    ...[...bindings.keys()].sort().map((endpoint) => bindings.get(endpoint) ?? ''),
    '}\n',
  ].join('');
}
