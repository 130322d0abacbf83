import { mkdir, rename, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWatchedFiles, watchFiles } from '../../src/files/file-watcher.ts';
import { createSecretFiles, SecretError } from '../../src/files/secret-files.ts';
import { createGateway } from '../../src/gateway.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { type BrowserOptions, clientsOf, createSigner } from '../support/tokens.ts';

guards('src/auth/tenants.ts', 'findTenantProblem');
guards('src/files/file-watcher.ts', 'createWatchedFiles.look');
guards('src/files/secret-files.ts', 'collect');
guards('src/files/secret-files.ts', 'filesIn');
guards('src/files/secret-files.ts', 'listSecretFiles');
guards('src/files/text-file.ts', 'readAll');
guards('src/auth/authenticate.ts', 'identityOf');

const GROUPS = '{ notificationGroups { name } }';

const signer = createSigner();

type Tenants = Pick<BrowserOptions, 'tenants' | 'tenantKeys'>;

type Folder = Awaited<ReturnType<typeof createTestFolder>>;

/** Replaces the files of a link at once, as Kubernetes does. */
async function publish({ path }: Folder, link: string, version: string, keys: Record<string, string>) {
  await mkdir(path(version));
  await Promise.all(Object.entries(keys).map(([tenant, key]) => writeFile(path(version, tenant), key)));
  await symlink(version, path('..next'));
  await rename(path('..next'), path(link));
}

const clientsWith = (tenants: Tenants) => clientsOf(signer, { tenants: {}, ...tenants });

/** Starts a gateway that checks its files for changes every 50 ms. */
async function start(tenants: Tenants, now?: () => Date) {
  const options = { reloadSeconds: 0.05, clients: clientsWith(tenants) };
  const gateway = ofTest(
    await startGateway({ service: () => ({ body: { data: [] } }), ...options }, { ...(now && { now }) }),
  );
  const { requests } = gateway.service;

  /** Returns the key of the upstream call, or the reason why there is none. */
  async function keyFor(token: string | Promise<string>): Promise<string> {
    const before = requests.length;
    const { status, body } = await gateway.send(GROUPS, {}, { authorization: `Bearer ${await token}` });
    const keys = requests.slice(before).map(({ headers }) => headers.authorization);
    expect(keys).toHaveLength(status === 200 ? 1 : 0);
    return keys[0] ?? `${status} ${body.errors?.[0]?.extensions?.reason}`;
  }
  const problems = () => gateway.log.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  return { gateway, keyFor, problems };
}

/** Waits for a condition that becomes true after files are reloaded. */
const eventually = (isTrue: () => boolean | Promise<boolean>) =>
  vi.waitUntil(isTrue, { timeout: 20_000, interval: 20 });

const tokenOf = (tenant: string, claims = {}) => signer.sign({ tenant, ...claims });

describe("a tenant's key", () => {
  it('is a value, a file, or a file named after the tenant in a folder', async () => {
    const folder = await createTestFolder();
    await mkdir(folder.path('keys'));
    await mkdir(folder.path('keys', 'not-a-tenant'));
    await writeFile(folder.path('globex'), 'key-in-file\n');
    await writeFile(folder.path('keys', 'initech'), 'key-in-folder\r\n');
    await writeFile(folder.path('keys', 'a.b-C_9'), 'key-of-an-odd-name');
    await writeFile(folder.path('keys', '.hidden'), 'not a key at all');
    const { keyFor } = await start({
      tenants: { acme: 'key-as-value', globex: { file: folder.path('globex') } },
      tenantKeys: { directory: folder.path('keys') },
    });
    expect(await keyFor(tokenOf('acme'))).toBe('ApiKey key-as-value');
    expect(await keyFor(tokenOf('globex'))).toBe('ApiKey key-in-file');
    expect(await keyFor(tokenOf('initech'))).toBe('ApiKey key-in-folder');
    expect(await keyFor(tokenOf('a.b-C_9'))).toBe('ApiKey key-of-an-odd-name');
    for (const tenant of ['.hidden', 'not-a-tenant', './acme', 'keys/initech', '../globex', '..', '.', '']) {
      expect([tenant, await keyFor(tokenOf(tenant))]).toEqual([tenant, '401 TENANT_UNKNOWN']);
    }
  });

  it('is reloaded even if the key of another tenant is invalid', async () => {
    const folder = await createTestFolder();
    for (const tenant of ['acme', 'globex']) {
      await writeFile(folder.path(tenant), `key-of-${tenant}`);
    }
    const [acme, globex, initech] = [tokenOf('acme'), tokenOf('globex'), tokenOf('initech')];
    const { keyFor, problems } = await start({ tenantKeys: { directory: folder.path() } });
    await writeFile(folder.path('acme'), 'a broken key');
    await writeFile(folder.path('initech'), 'key-of-initech');
    await rm(folder.path('globex'));
    await eventually(async () => (await keyFor(globex)) === '401 TENANT_UNKNOWN');
    expect(await keyFor(initech)).toBe('ApiKey key-of-initech');
    expect(await keyFor(acme)).toBe('ApiKey key-of-acme');
    await eventually(async () => problems().length === 1);
    await rm(folder.path('acme'));
    await eventually(async () => (await keyFor(acme)) === '401 TENANT_UNKNOWN');
  });

  it('is replaced when a symbolic link is switched to another folder, as Kubernetes does', async () => {
    const folder = await createTestFolder();
    await publish(folder, '..data', '..2026_01', { acme: 'key-1', globex: 'key-2' });
    for (const tenant of ['acme', 'globex']) {
      await symlink(`..data/${tenant}`, folder.path(tenant));
    }
    const [acme, globex] = [tokenOf('acme'), tokenOf('globex')];
    const { gateway, keyFor, problems } = await start({ tenantKeys: { directory: folder.path() } });
    expect([await keyFor(acme), await keyFor(globex)]).toEqual(['ApiKey key-1', 'ApiKey key-2']);

    // The keys are swapped, so both must be replaced at the same time.
    await publish(folder, '..data', '..2026_02', { acme: 'key-2', globex: 'key-1' });
    await eventually(async () => (await keyFor(acme)) === 'ApiKey key-2');
    expect(await keyFor(globex)).toBe('ApiKey key-1');

    await publish(folder, '..data', '..2026_03', { acme: 'key-4' });
    await unlink(folder.path('globex'));
    await eventually(async () => (await keyFor(acme)) === 'ApiKey key-4');
    expect(await keyFor(globex)).toBe('401 TENANT_UNKNOWN');
    expect(problems()).toEqual([]);
    expect(gateway.log.filter(({ msg }) => msg === 'the keys of tenants were reloaded')).toMatchObject([
      { added: [], replaced: ['acme', 'globex'], removed: [] },
      { added: [], replaced: ['acme'], removed: ['globex'] },
    ]);
  });

  it('that is invalid is rejected: the previous key stays in use, and the problems are logged once', async () => {
    const invalid = {
      empty: '',
      lines: 'canary-one\ncanary-two\n',
      space: 'canary key',
      letters: 'canärykey',
      twin: 'key-of-acme',
      large: `canary${'x'.repeat(64 * 1024)}`,
    };
    const tenants = Object.keys(invalid);
    const folder = await createTestFolder();
    const keysOf = (prefix: string) => Object.fromEntries(tenants.map((tenant) => [tenant, `${prefix}-of-${tenant}`]));
    await publish(folder, 'keys', 'valid', { acme: 'key-of-acme', ...keysOf('key') });
    const { gateway, keyFor, problems } = await start({ tenantKeys: { directory: folder.path('keys') } });
    async function keys() {
      const found: string[] = [];
      for (const tenant of tenants) {
        found.push(await keyFor(tokenOf(tenant)));
      }
      return found;
    }

    await publish(folder, 'keys', 'invalid', { acme: 'key-of-acme', ...invalid });
    await eventually(() => problems().length > 0);
    expect(await keys()).toEqual(tenants.map((tenant) => `ApiKey key-of-${tenant}`));
    await new Promise((resolve) => setTimeout(resolve, 200)); // Several more reloads.
    expect(problems()).toHaveLength(1);
    const logged = String(problems()[0]).split('; ');
    expect(logged).toHaveLength(tenants.length);
    for (const tenant of tenants.filter((name) => name !== 'twin' && name !== 'large')) {
      expect(logged).toContainEqual(
        `the key of tenant ${tenant} is empty, too long, or contains a space or another invalid character`,
      );
    }
    expect(logged).toContainEqual('the tenants acme and twin have the same key');
    expect(logged).toContainEqual(expect.stringMatching(/large is larger than 64 KiB$/));
    expect(JSON.stringify(gateway.log)).not.toMatch(/canary|canär|key-of-acme/);

    await publish(folder, 'keys', 'fixed', { acme: 'key-of-acme', ...keysOf('next') });
    await eventually(async () => (await keyFor(tokenOf('empty'))) === 'ApiKey next-of-empty');
    expect(await keys()).toEqual(tenants.map((tenant) => `ApiKey next-of-${tenant}`));
    expect(problems()).toHaveLength(1);
  });

  it.each([
    ['another tenant, also one before it in the alphabet', 'acme', 'ApiKey key-of-acme'],
    ['a new tenant', 'aaron', '401 TENANT_UNKNOWN'],
  ])('is not taken over by %s', async (_, tenant, expected) => {
    const folder = await createTestFolder();
    await writeFile(folder.path('acme'), 'key-of-acme');
    await writeFile(folder.path('globex'), 'key-of-globex');
    const { keyFor, problems } = await start({ tenantKeys: { directory: folder.path() } });

    await writeFile(folder.path(tenant), 'key-of-globex');
    await eventually(() => problems().length > 0);
    expect(problems()).toEqual([`the tenants globex and ${tenant} have the same key`]);
    expect(await keyFor(tokenOf('globex'))).toBe('ApiKey key-of-globex');
    expect(await keyFor(tokenOf(tenant))).toBe(expected);
  });

  it('stays in use when its folder or file is deleted', async () => {
    const folder = await createTestFolder();
    await mkdir(folder.path('keys'));
    await writeFile(folder.path('keys', 'acme'), 'key-of-acme');
    await writeFile(folder.path('globex'), 'key-of-globex');
    const { keyFor, problems } = await start({
      tenants: { globex: { file: folder.path('globex') } },
      tenantKeys: { directory: folder.path('keys') },
    });
    await rm(folder.path('globex'));
    await eventually(() => problems().length === 1);
    await writeFile(folder.path('globex'), 'key-of-globex');
    await rm(folder.path('keys'), { recursive: true });
    await eventually(() => problems().length === 2);
    expect([await keyFor(tokenOf('acme')), await keyFor(tokenOf('globex'))]).toEqual([
      'ApiKey key-of-acme',
      'ApiKey key-of-globex',
    ]);
    expect(problems()).toEqual([
      `the file ${folder.path('globex')} doesn't exist`,
      `the folder ${folder.path('keys')} doesn't exist`,
    ]);
  });
});

describe('a file with a key', () => {
  /** Watches one file every ten seconds, by a clock that only the test moves. */
  async function watchFile(content: string) {
    const file = (await createTestFolder()).path('key');
    await writeFile(file, content);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const files = createSecretFiles({ secrets: { acme: { file } } });
    const problems: string[] = [];
    const logger = pino({}, { write: (line: string) => problems.push(JSON.parse(line).problem) });
    const watcher = watchFiles([files], 10, logger);
    onTestFinished(() => watcher[Symbol.dispose]());
    return { file, key: () => files.secrets().get('acme'), problems };
  }

  it('is not used while it is written in pieces', async () => {
    const { file, key, problems } = await watchFile('first-key');
    vi.advanceTimersByTime(10_100); // Shortly before the second look.
    for (const piece of ['', 'sec', 'second', 'second-k']) {
      await writeFile(file, piece);
      vi.advanceTimersByTime(200);
      expect(key()).toBe('first-key');
    }
    await writeFile(file, 'second-key');
    vi.advanceTimersByTime(1_000);
    expect([key(), problems]).toEqual(['second-key', []]);
  });

  it('that was incomplete at the start is read again soon, then at the interval', async () => {
    const { file, key } = await watchFile('first-');
    await writeFile(file, 'first-key');
    vi.advanceTimersByTime(1_000);
    expect(key()).toBe('first-key');
    await writeFile(file, 'second-key');
    vi.advanceTimersByTime(8_000);
    expect(key()).toBe('first-key');
    vi.advanceTimersByTime(2_000);
    expect(key()).toBe('second-key');
  });

  it('is noticed when it is rewritten with the same size and time of modification', async () => {
    const { file, key } = await watchFile('first-key');
    const setTime = () => utimes(file, 1_000_000_000, 1_000_000_000);
    await setTime();
    vi.advanceTimersByTime(11_000);
    await writeFile(file, 'other-key');
    await setTime();
    vi.advanceTimersByTime(11_000);
    expect(key()).toBe('other-key');
  });

  it('keeps its key while it is replaced by deleting it first', async () => {
    const { file, key, problems } = await watchFile('first-key');
    vi.advanceTimersByTime(10_100); // Shortly before the second look.
    await rm(file);
    vi.advanceTimersByTime(200);
    expect(key()).toBe('first-key');
    await writeFile(file, 'second-key');
    vi.advanceTimersByTime(200);
    expect(key()).toBe('first-key');
    vi.advanceTimersByTime(1_000);
    expect([key(), problems]).toEqual(['second-key', []]);
  });
});

it('files that change while they are read are read again, and not used before', () => {
  let [state, text] = ['1', 'first'];
  let onRead = () => {};
  const used: string[] = [];
  const files = createWatchedFiles(
    () => state,
    () => {
      onRead();
      return text;
    },
    (content) => void used.push(content),
  );
  [state, text] = ['2', 'half-'];
  onRead = () => {
    state = '3';
  };
  const looks = [files.look(), files.look()];
  text = 'complete';
  onRead = () => {};
  looks.push(files.look(), files.look(), files.look());
  expect([looks, used]).toEqual([
    [true, true, true, false, false],
    ['first', 'complete'],
  ]);
});

it('files that stay invalid are so since the first change that was rejected', () => {
  vi.useFakeTimers({ now: 1_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  let text = 'valid';
  const files = createWatchedFiles(
    () => text,
    () => text,
    (content) => {
      if (content !== 'valid') {
        throw new Error(content);
      }
    },
  );
  const change = (next: string) => {
    vi.advanceTimersByTime(1_000);
    text = next;
    files.look();
    try {
      files.look();
    } catch {
      // It is logged.
    }
    return files.invalidSince();
  };
  expect([files.invalidSince(), change('a'), change('b'), change('valid'), change('c')]).toEqual([
    0, 1_001, 1_001, 0, 1_004,
  ]);
});

describe('creating a gateway fails', () => {
  const make = (tenants: Tenants) => () =>
    createGateway({ upstream: 'http://127.0.0.1:1', clients: clientsWith(tenants) });

  it.each<[string, NonNullable<Tenants['tenants']>, RegExp]>([
    [
      'two tenants have the same key',
      { acme: 'canary', globex: 'canary' },
      /^the tenants acme and globex have the same key$/,
    ],
    ['a key has a space', { acme: 'canary key' }, /^the key of tenant acme is empty, too long, or contains a space/],
    ['a name is a path', { '../acme': 'canary' }, /is not a valid tenant name; use at most 128 letters/],
    ['a name begins with a dot', { '.acme': 'canary' }, /is not a valid tenant name/],
    ['a file is missing', { acme: { file: '/nowhere/acme' } }, /^the file \/nowhere\/acme doesn't exist$/],
  ])('if %s', (_, tenants, problem) => {
    expect(make({ tenants })).toThrow(SecretError);
    expect(make({ tenants })).toThrow(problem);
    expect(make({ tenants })).not.toThrow(/canary/);
  });

  it.each<[string, NonNullable<Tenants['tenants']>, string]>([
    ['a key is empty', { acme: '' }, 'clients.browser.tenants.acme must not be empty.'],
    [
      'a name is __proto__',
      JSON.parse('{"__proto__":"canary"}'),
      'clients.browser.tenants.__proto__ must have another name.',
    ],
  ])('if %s', (_, tenants, problem) => {
    expect(make({ tenants })).toThrow(new TypeError(problem));
  });

  it('if a folder is missing or contains an invalid key, or a tenant is configured twice', async () => {
    const folder = await createTestFolder();
    expect(make({ tenantKeys: { directory: folder.path('nowhere') } })).toThrow(/nowhere doesn't exist$/);
    await writeFile(folder.path('README.txt'), 'Keys of tenants are kept here.');
    expect(make({ tenantKeys: { directory: folder.path() } })).toThrow(/^the key of tenant README\.txt /);
    await rm(folder.path('README.txt'));
    await writeFile(folder.path('acme'), 'key-in-folder');
    const twice = { tenants: { acme: 'key-as-value' }, tenantKeys: { directory: folder.path() } };
    expect(make(twice)).toThrow(/^acme is set both directly and by a file in the folder .+; remove one of them$/);
  });

  it('if a tenant of a folder selects no upstream, and none is the default', async () => {
    const folder = await createTestFolder();
    await writeFile(folder.path('acme'), 'key-of-acme');
    await writeFile(folder.path('globex'), 'key-of-globex');
    const at = (pathPrefix: string) => ({ url: 'http://127.0.0.1:1', pathPrefix });
    const create = (selected: Record<string, string>) => () =>
      createGateway({
        upstreams: { eu: at('/eu'), us: at('/us') },
        clients: clientsWith({ tenantKeys: { directory: folder.path(), upstreams: selected } }),
      });
    expect(create({ acme: 'eu' })).toThrow(/^the tenant globex selects no upstream, and none is the default$/);
    await create({ acme: 'eu', globex: 'us' })().dispose();
  });

  it('only for these reasons: ten thousand tenants are created in under two seconds of CPU time', async () => {
    const tenants = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`tenant-${i}`, `key-${i}`]));
    const { cpuMs } = await measureCpu(() => make({ tenants })().dispose());
    expect(cpuMs).toBeLessThan(2_000);
  });
});

describe('a cached token', () => {
  it('is rejected as soon as it expires, including the permitted clock skew', async () => {
    let time = Date.parse('2026-03-01T12:00:00Z');
    const expiry = time / 1000 + 30;
    const token = tokenOf('acme', { exp: expiry });
    const { keyFor } = await start({ tenants: { acme: 'key-of-acme' } }, () => new Date(time));
    expect(await keyFor(token)).toBe('ApiKey key-of-acme');
    time = (expiry + 5) * 1000 - 1;
    expect(await keyFor(token)).toBe('ApiKey key-of-acme');
    time += 1;
    expect(await keyFor(token)).toBe('401 TOKEN_EXPIRED');
  });

  it('is compared byte for byte', async () => {
    const { keyFor } = await start({ tenants: { acme: 'key-of-acme' } });
    const token = await tokenOf('acme');
    expect(await keyFor(token)).toBe('ApiKey key-of-acme');
    for (const other of [token.slice(0, -5), `${token.slice(0, -5)}AAAAA`, `${token}AAAA`, token.toUpperCase()]) {
      expect(await keyFor(other)).toMatch(/^401 TOKEN_/);
    }
    expect(await keyFor(token)).toBe('ApiKey key-of-acme');
  });
});
