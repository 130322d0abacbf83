// Runs programs for which names lead to other addresses, or are never answered.

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Addresses by name. Other names are asked of DNS. */
export type Names = Readonly<Record<string, readonly string[]>>;

/** Address where a test can listen in place of DNS. */
const DNS = '127.0.0.77';

/** Replaces the files that exist in a mount namespace of the program, which nobody else sees. */
const SCRIPT = `for file in hosts resolv.conf nsswitch.conf; do
  if [ -e "/etc/$file" ]; then mount --bind "$0/$file" "/etc/$file" || exit; fi
done
exec "$@"`;

/** Creates the beginning of a command line that runs the rest of it with these names. Disposing removes its files. */
export function mapNames(names: Names) {
  const folder = mkdtempSync(join(tmpdir(), 'notigraph-names-'));
  const lines = Object.entries(names).flatMap(([name, addresses]) =>
    addresses.map((address) => `${address} ${name}\n`),
  );
  writeFileSync(join(folder, 'hosts'), lines.join(''));
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${DNS}\n`);
  writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files dns\n');
  return {
    wrapper: ['unshare', '--mount', 'sh', '-c', SCRIPT, folder],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Starts a DNS server that never answers. */
export async function startSilentDns() {
  const asked = new Set<string>();
  const socket = createSocket('udp4', (query) => asked.add(readName(query)));
  socket.bind(53, DNS);
  await once(socket, 'listening');
  return {
    /** Returns the names that it was asked for. */
    asked: (): readonly string[] => [...asked],
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Returns the name in a query (RFC 1035, 4.1.2). */
function readName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; at < query.length && query[at] !== 0; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.');
}

async function isPermitted(): Promise<boolean> {
  await using mapped = mapNames({});
  const [program = '', ...args] = [...mapped.wrapper, 'true'];
  return process.getuid?.() === 0 && spawnSync(program, args).status === 0;
}

/** Whether this user may run programs with other names, and the end of the titles of tests that do. */
export const canMapNames = await isPermitted();
export const mappedOnly = canMapNames ? '' : ' (left out: not permitted to replace /etc/hosts for one process)';
