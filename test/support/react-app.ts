// Writes the app of docs/react.md, whose blocks begin with the names of their files, for a gateway.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { blocks, FRONTEND, GATEWAY, read } from './docs.ts';

const PAGE = read('docs/react.md');

/** Files that docs/react.md leaves to its readers. */
const OTHERS: Record<string, string> = {
  'lib/session.ts': `
    export const userOf = async ({ headers }: Request): Promise<{ id: string } | undefined> => {
      const [, id] = /session=([\\w-]+)/.exec(headers.get('cookie') ?? '') ?? [];
      return id === undefined ? undefined : { id: id === '1' ? 'user-4711' : id };
    };
  `,
  'app/layout.tsx': `
    import type { ReactNode } from 'react';
    import { QueryApp } from '@/components/query-workflow';

    export default function Layout({ children }: { children: ReactNode }) {
      return <html lang="en"><body><QueryApp>{children}</QueryApp></body></html>;
    }
  `,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      paths: { '@/*': ['./*'] },
    },
  }),
};

export async function writeReactApp(folder: string, gateway: string, more: Record<string, string> = {}): Promise<void> {
  const files = new Map(Object.entries({ ...OTHERS, ...more }));
  const [frontend = ''] = blocks(FRONTEND, 'ts').filter((block) => block.includes('function getToken'));
  const [tokens = ''] = /^let current[\s\S]*?(?=^const notigraph)/m.exec(frontend) ?? [];
  files.set('lib/token.ts', tokens.replace(/^(?:async )?function (?:get|forget)Token/gm, 'export $&')); // As the page says.
  for (const block of [...blocks(PAGE, 'ts'), ...blocks(PAGE, 'tsx')]) {
    const [, path = ''] = /^\/\/ (\S+)\n/.exec(block) ?? [];
    files.set(path, `${files.get(path) ?? ''}${block}`);
  }
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text.replaceAll(GATEWAY, new URL(gateway).origin));
  }
}
