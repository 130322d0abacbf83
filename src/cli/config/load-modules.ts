import { registerHooks } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { GatewayModule } from '../../graphql/module.ts';
import { isRecord } from '../../lib/is-record.ts';
import { listAny } from '../../settings/setting.ts';
import type { Config, LoadedConfig } from './load-config.ts';
import { ConfigError } from './problem.ts';

/** Modules of a configuration, with the files that they consist of. */
export interface LoadedModules {
  modules: readonly GatewayModule[];
  /** Absolute paths, without those of packages. */
  files: readonly string[];
}

const NONE: LoadedModules = { modules: [], files: [] };

/** Modules of this package. */
const SHIPPED: Readonly<Record<string, () => Promise<{ default: GatewayModule }>>> = {
  'notigraph/modules/events': () => import('../../modules/events.ts'),
  'notigraph/modules/subscribers': () => import('../../modules/subscribers.ts'),
  'notigraph/modules/topics': () => import('../../modules/topics.ts'),
};

/** Modules of a configuration. */
export type ModuleSource = Pick<Config, 'modules' | 'source' | 'generation'>;

/**
 * Imports the modules of a configuration: files, packages, and those of this package. Files are imported anew for each generation of the
 * configuration, with the files that they import.
 *
 * @throws {ConfigError} if one can't be imported, or is no module
 */
export async function loadModules(
  source: ModuleSource,
  locate: LoadedConfig['locate'] = (path) => ({ name: path.join('.') }),
): Promise<LoadedModules> {
  const { modules: names } = source;
  if (names.length === 0) {
    return NONE;
  }
  using files = new ModuleFiles(source);
  const modules: GatewayModule[] = [];
  for (const [i, name] of names.entries()) {
    try {
      const shipped = /^notigraph\/modules\//.test(name) ? findShipped(name) : undefined;
      modules.push(asModule(await (shipped?.() ?? files.load(name))));
    } catch (error) {
      throw moduleProblem(['modules', String(i)], describeFailure(error, files.paths), locate);
    }
  }
  return { modules, files: [...files.paths] };
}

/**
 * Checks that modules can be part of the schema, and that the scopes of clients exist in it.
 *
 * @throws {ConfigError} with all problems
 */
export async function checkModules(
  config: Config,
  { modules, files }: LoadedModules,
  locate: LoadedConfig['locate'],
): Promise<void> {
  if (modules.length === 0) {
    return;
  }
  const { createSchema, scopesOf } = await import('../../graphql/schema.ts');
  const { findUnknownScopes } = await import('../../settings/scopes.ts');
  const createChecked = () => {
    try {
      return createSchema(config, modules);
    } catch (error) {
      throw moduleProblem(['modules'], describeFailure(error, new Set(files)), locate);
    }
  };
  const problems = findUnknownScopes(config.clients, scopesOf(createChecked())).map(({ path, message }) => {
    const { place, name } = locate(path);
    return { place, sentence: `${name} ${message}.` };
  });
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
}

function moduleProblem(path: readonly string[], clause: string, locate: LoadedConfig['locate']): ConfigError {
  const { place, name } = locate(path);
  return new ConfigError([{ place, sentence: `${name}: ${clause}.` }]);
}

function findShipped(name: string): () => Promise<unknown> {
  const load = SHIPPED[name];
  if (load === undefined) {
    throw new TypeError(`${name} is not a module of Notigraph; use ${listAny(Object.keys(SHIPPED))}`);
  }
  return load;
}

/** Returns the default export of a file. @throws {TypeError} if it is no module */
function asModule(exports: unknown): GatewayModule {
  const value = isRecord(exports) ? exports.default : undefined;
  if (!isModule(value)) {
    throw new TypeError('has no module as its default export; use export default defineModule(…)');
  }
  return value;
}

const isModule = (value: unknown): value is GatewayModule =>
  isRecord(value) && typeof value.name === 'string' && typeof value.define === 'function';

/** Begins the specifier of an entry, which the hook resolves. */
const ENTRY = 'notigraph-module:';

/** Imports of files. Node.js keeps each URL that it imported, so a query makes it read changed files again. */
class ModuleFiles implements Disposable {
  /** Absolute paths of the files so far, without those of packages. */
  readonly paths = new Set<string>();
  readonly #query: string;
  readonly #hooks: ReturnType<typeof registerHooks>;

  constructor({ source = '.', generation = 0 }: ModuleSource) {
    this.#query = `?generation=${generation}`;
    const parentURL = pathToFileURL(resolve(dirname(source), 'package.json')).href; // Packages are searched from here.
    this.#hooks = registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier.startsWith(ENTRY)) {
          const name = decodeURIComponent(specifier.slice(ENTRY.length, specifier.indexOf('?')));
          const entry = isPath(name) ? pathToFileURL(resolve(name)).href : name;
          return this.#refresh(next(entry, { ...context, parentURL }));
        }
        if (!context.parentURL?.endsWith(this.#query)) {
          return next(specifier, context);
        }
        if (isPath(specifier)) {
          return this.#refresh(next(specifier, context));
        }
        // The source runs without being built.
        const conditions = [
          ...(context.conditions ?? []),
          ...(import.meta.url.endsWith('.ts') ? ['notigraph-source'] : []),
        ];
        return resolveNear(specifier, (from) => next(specifier, { ...context, conditions, ...from }));
      },
    });
  }

  /** Imports an entry of the setting. */
  load(name: string): Promise<unknown> {
    return import(`${ENTRY}${encodeURIComponent(name)}${this.#query}`);
  }

  [Symbol.dispose](): void {
    this.#hooks.deregister();
  }

  /** Adds the query to the URL of a file, unless it is part of a package. */
  #refresh<Resolved extends { url: string }>(resolved: Resolved): Resolved {
    const { url } = resolved;
    if (!url.startsWith('file:') || url.includes('/node_modules/')) {
      return resolved;
    }
    this.paths.add(fileURLToPath(url));
    return { ...resolved, url: url + this.#query };
  }
}

/** Resolves an import of a module. This package need not be installed beside it. */
function resolveNear<Resolved>(specifier: string, resolveFrom: (from: { parentURL?: string }) => Resolved): Resolved {
  try {
    return resolveFrom({});
  } catch (error) {
    if (specifier.startsWith('notigraph/')) {
      return resolveFrom({ parentURL: import.meta.url });
    }
    throw error;
  }
}

const isPath = (name: string): boolean => /^\.{0,2}\//.test(name);

/** Describes why a module can't be used: the reason, and the place in one of its files. */
function describeFailure(error: unknown, files: ReadonlySet<string>): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = message.split('\n', 1);
  const place = findPlace(error, files);
  const reason = line.replace(/\.$/, '').replace(/ imported from .*$/, '');
  return place === undefined ? reason : `${reason} (${place})`;
}

/** Returns the first place in the files that an error, or its cause, names. */
function findPlace(error: unknown, files: ReadonlySet<string>): string | undefined {
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
