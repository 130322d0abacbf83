import { access, constants, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { describeUnreadable, packageUrl } from '../../lib/installation.ts';
import { isRecord } from '../../lib/is-record.ts';

/** Content encoding of a response; undefined for none. */
export type Encoding = 'br' | 'gzip' | undefined;

/** Bytes of a response, in the form that both adapters write. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** List of the files of GraphiQL's page, as written by `npm run build:graphiql`. */
export interface Manifest {
  /** Names of the files that the page refers to. */
  script: string;
  style: string;
  /** Media types of all files by their names. */
  types: ReadonlyMap<string, string>;
}

/** Files of GraphiQL's page. */
export interface Assets {
  /** Reads the list of files. Returns undefined if the page has not been built. */
  readManifest(): Promise<Manifest | undefined>;
  /** Returns why the page can't be served, as a clause; undefined if all its files can be read. */
  findProblem(): Promise<string | undefined>;
  /** Reads a file of the list, the first time from the disk. Rejects if it has been deleted. */
  read(name: string, encoding: Encoding): Promise<Bytes>;
}

const SUFFIXES = { br: '.br', gzip: '.gz' };

/** Creates the access to the built files. They are stored compressed. */
export function createAssets(): Assets {
  const folder = packageUrl('dist/graphiql/');
  const contents = new Map<string, Promise<Bytes>>();

  /** Returns what `load` resolves to. All responses share it, so that many of them at once need no more memory than one. */
  async function once(key: string, load: () => Promise<Bytes>): Promise<Bytes> {
    const content = contents.get(key) ?? load();
    contents.set(key, content);
    return content.catch((error: unknown) => {
      contents.delete(key);
      throw error;
    });
  }

  const readStored = (file: string): Promise<Bytes> =>
    once(file, async () => new Uint8Array(await readFile(new URL(file, folder))));

  const readManifest = () => readFile(new URL('manifest.json', folder), 'utf8').then(parseManifest, () => undefined);

  return {
    readManifest,
    async findProblem() {
      const names = [...((await readManifest())?.types.keys() ?? [])];
      const stored = names.flatMap((name) => Object.values(SUFFIXES).map((suffix) => name + suffix));
      for (const file of ['manifest.json', ...stored].map((name) => new URL(name, folder))) {
        try {
          await access(file, constants.R_OK);
        } catch (error) {
          return describeUnreadable(file, error);
        }
      }
      return undefined;
    },
    read: (name, encoding) =>
      encoding === undefined
        ? once(name, async () => new Uint8Array(await promisify(gunzip)(await readStored(name + SUFFIXES.gzip))))
        : readStored(name + SUFFIXES[encoding]),
  };
}

function parseManifest(text: string): Manifest {
  const { script, style, types }: Record<string, unknown> = JSON.parse(text);
  if (typeof script !== 'string' || typeof style !== 'string' || !isRecord(types)) {
    throw new TypeError('dist/graphiql/manifest.json is not a list of files.');
  }
  return { script, style, types: new Map(Object.entries(types).map(([name, type]) => [name, String(type)])) };
}
