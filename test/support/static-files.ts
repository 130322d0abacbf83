// Hosts built apps.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { listen } from './listen.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** Server for the files of a folder, as used to host a built app. */
export type StaticFiles = Awaited<ReturnType<typeof startStaticFiles>>;

/** @param handle responds to other requests than those for files, and returns whether it did */
export async function startStaticFiles(
  folder: string,
  handle: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
) {
  const server = createServer(async (request, response) => {
    if (handle(request, response)) {
      return;
    }
    const { pathname } = new URL(request.url ?? '/', 'http://files.invalid');
    const file = normalize(join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    const body = file.startsWith(folder + sep) ? await readFile(file).catch(() => undefined) : undefined;
    response.writeHead(body === undefined ? 404 : 200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    });
    response.end(body);
  });
  const { url, close } = await listen(server);
  return { /** Origin of the pages, without a trailing slash. */ url, [Symbol.asyncDispose]: close };
}
