// Imports modules: those of this package, and files and packages of users, which can be imported again after a change.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { GraphQLSchema } from 'graphql';
import { orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { type GatewayModule, isModule } from '../../../../src/modules/module.ts';
import { loadShipped } from '../../../../src/modules/shipped.ts';
import { ConfigError, type Locate, problemOf, rejectProblems } from './problem.ts';
import type { Settings } from './settings.ts';

/** Files of modules by their absolute paths, without those of packages. Undefined for one that could not be read. */
export type ModuleFiles = Map<string, ModuleFile | undefined>;

interface ModuleFile {
  /** Format in the terms of Node.js, such as `module-typescript`. */
  format: string;
  source: string;
  /** Number of the configuration with which it was imported: unchanged files are not imported again. */
  generation: number;
  imports: string[];
}

/** Modules of a configuration. It is plain data. */
export interface ModuleSource extends Pick<Settings, 'modules'> {
  /** Name of the configuration file, or of the variable with the configuration; undefined if there is none. */
  source?: string | undefined;
  /** Number of the configuration in this process. @default 0 */
  generation?: number;
  /** Files of modules, by their paths, as they were read and checked before. They are not read again. @default none */
  moduleFiles?: Readonly<Record<string, ModuleFile>>;
}

/**
 * Imports the modules of a configuration, and checks that they can be part of the schema, and that the scopes of clients exist in it.
 *
 * @param files receives the files, also those of a module that fails
 * @throws {ConfigError} with all problems
 */
export async function loadCheckedModules(
  config: ModuleSource & Pick<Settings, 'clients' | 'federation' | 'introspection'>,
  locate: Locate,
  files: ModuleFiles = new Map(),
): Promise<readonly GatewayModule[]> {
  const modules = await loadModules(config, locate, files);
  if (modules.length === 0) {
    return modules;
  }
  const { createSchema } = await import('../../../../src/modules/schema.ts');
  const { findScopesWithoutField } = await import('../../../../src/graphql/scopes.ts');
  let schema: GraphQLSchema;
  try {
    schema = createSchema(config, modules);
  } catch (error) {
    throw new ConfigError([problemOf(locate(['modules']), `: ${describeFailure(error, files)}`)]);
  }
  const unknown = findScopesWithoutField(schema, config.clients);
  rejectProblems(unknown.map(({ path, message }) => problemOf(locate(path), ` ${message}`)));
  return modules;
}

/**
 * Imports the modules of a configuration: files, packages, and those of this package. Files that are not in `moduleFiles` are imported anew, with
 * the files that import them.
 *
 * @param files receives the files, also those of a module that fails
 * @throws {ConfigError} if one can't be imported, or is no module
 */
export async function loadModules(
  source: ModuleSource,
  locate: Locate = (path) => ({ name: path.join('.') }),
  files: ModuleFiles = new Map(),
): Promise<readonly GatewayModule[]> {
  const { modules: names } = source;
  const modules: GatewayModule[] = [];
  if (names.length === 0) {
    return modules;
  }
  using imports = importFiles(source, files);
  for (const [i, name] of names.entries()) {
    const entry = isPath(name) ? relative('.', name) : name;
    try {
      modules.push(asModule(entry, await withinTime(entry, loadShipped(name) ?? imports.load(name))));
    } catch (error) {
      const reason = describeFailure(error, files, entry);
      throw new ConfigError([problemOf(locate(['modules', String(i)]), `: ${reason}`)]);
    }
  }
  return modules;
}

/** Returns the files that are still as they were read, and import only such files. */
export function findUnchanged(files: Readonly<Record<string, ModuleFile>> = {}): Readonly<Record<string, ModuleFile>> {
  let unchanged = Object.entries(files).filter(([path, { source }]) => readNow(path) === source);
  for (let count = Number.POSITIVE_INFINITY; unchanged.length < count; ) {
    count = unchanged.length;
    const paths = new Set(unchanged.map(([path]) => path));
    unchanged = unchanged.filter(([, { imports }]) => imports.every((path) => paths.has(path)));
  }
  return Object.fromEntries(unchanged);
}

/** Returns the text of a file; undefined if it can't be read. */
const readNow = (path: string): string | undefined => orUndefined(() => toText(readFileSync(path)));

/** Maximum time for the import of a module, in milliseconds. */
const IMPORT_MS = 10_000;

/** Waits for an import, but not for ever: with nothing else to do, Node.js would end the process without naming the module. */
async function withinTime<Result>(name: string, imported: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${name} is not loaded after 10 seconds; does it wait for something at its top level`)),
    IMPORT_MS,
  );
  try {
    return await Promise.race([imported, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the default export of a file. @throws {TypeError} if it is no module */
function asModule(name: string, exports: unknown): GatewayModule {
  const value = isRecord(exports) ? exports.default : undefined;
  if (!isModule(value)) {
    throw new TypeError(`${name} has no module as its default export; use export default defineModule(…)`);
  }
  return value;
}

/** Interface of modules in this program, so that this package need not be installed beside them. */
const INTERFACE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../../src/modules/index.ts' : 'modules.js',
  import.meta.url,
).href;

/** Begins the specifier of an entry, which the hook resolves. */
const ENTRY = 'notigraph-module:';

/** Ends the URLs of files of modules. Node.js keeps each URL that it imported, so another number makes it read a file again. */
const QUERY = '?generation=';

/** Lets Node.js import the files of modules, until it is disposed: again if they have changed, and with the interface of this program. */
function importFiles({ source = '.', generation = 0, moduleFiles: known = {} }: ModuleSource, files: ModuleFiles) {
  for (const [path, file] of Object.entries(known)) {
    files.set(path, file); // Node.js asks for no file of a module that it keeps.
  }

  /** Adds the number to the URL of a file, unless it is part of a package. */
  function pin<Resolved extends { url: string }>(resolved: Resolved, importer?: ModuleFile): Resolved {
    const { url } = resolved;
    if (!url.startsWith('file:') || url.includes('/node_modules/')) {
      return resolved;
    }
    const path = fileURLToPath(url);
    importer?.imports.push(path);
    files.set(path, files.get(path));
    return { ...resolved, url: `${url}${QUERY}${known[path]?.generation ?? generation}` };
  }

  const parentURL = pathToFileURL(resolve(dirname(source), 'package.json')).href; // Packages are searched from here.
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(ENTRY)) {
        const name = decodeURIComponent(specifier.slice(ENTRY.length, specifier.indexOf('?')));
        const entry = isPath(name) ? pathToFileURL(resolve(name)).href : name;
        return pin(next(entry, { ...context, parentURL }));
      }
      const importer = context.parentURL?.includes(QUERY) ? fileURLToPath(context.parentURL) : undefined;
      if (importer !== undefined && isPath(specifier)) {
        return pin(next(specifier, context), files.get(importer));
      }
      return next(importer !== undefined && specifier === 'notigraph/modules' ? INTERFACE : specifier, context);
    },
    load(url, context, next) {
      if (!url.includes(QUERY)) {
        return next(url, context);
      }
      const path = fileURLToPath(url);
      const file = known[path];
      // Otherwise, TypeScript in a package with "type": "commonjs", as npm init writes it, can't have import.
      const importing = path.endsWith('.ts') ? { ...context, format: 'module-typescript' } : context;
      const loaded = file === undefined ? next(url, importing) : { ...file, shortCircuit: true };
      if (typeof loaded.format === 'string' && loaded.source != null) {
        const numbers = { generation: file?.generation ?? generation, imports: [] };
        files.set(path, { format: loaded.format, source: toText(loaded.source), ...numbers });
      }
      return loaded;
    },
  });
  return {
    load: (name: string): Promise<unknown> => import(`${ENTRY}${encodeURIComponent(name)}${QUERY}${generation}`),
    [Symbol.dispose]: () => hooks.deregister(),
  };
}

const toText = (source: string | ArrayBuffer | ArrayBufferView): string =>
  typeof source === 'string' ? source : new TextDecoder().decode(source);

/** Whether the name of a module is the path of a file, not the name of a package. */
export const isPath = (name: string): boolean => /^\.{0,2}\//.test(name);

/** Describes why a module can't be used: the reason, and the place in one of its files. */
function describeFailure(error: unknown, files: ModuleFiles, entry = ''): string {
  const message = error instanceof Error ? error.message : `${entry} throws ${inspect(error)} instead of an error`;
  const [line = ''] = message.split('\n', 1);
  const place = findPlace(error, files);
  const reason = line.replace(/\.$/, '').replace(/ imported from .*$/, '');
  return place === undefined ? reason : `${reason} (${place})`;
}

/** Returns the first place in the files that an error, or its cause, names. */
function findPlace(error: unknown, files: ModuleFiles): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  for (const [, path = '', place = ''] of (error.stack ?? '').matchAll(
    /(?:file:\/\/)?(\/[^\s:?)]+)(?:\?[^\s:)]*)?((?::\d+)+)/g,
  )) {
    if (files.has(decodeURIComponent(path))) {
      return relative('.', decodeURIComponent(path)) + place;
    }
  }
  return findPlace(error.cause, files);
}
