import type { z } from 'zod';
import { manifestSource } from './clients.ts';
import { group, listOf, setting, text } from './setting.ts';

/** Section of the settings table: trusted documents that are tools for AI agents. */
export const mcpSettings = {
  mcp: setting(
    group({
      manifest: setting(
        manifestSource().exactOptional(),
        'Manifest whose operations are tools: a file, a directory, or an object of documents by id. It has the same formats as those of `trustedDocuments`.',
        { defaultText: 'the [shipped operations](operations.md)', isReloadable: true, examples: ['tools.json'] },
      ),
      mutations: setting(
        listOf(text(), 'must be a list of names of operations').default([]),
        'Names of the mutations that are tools. Others in the manifest are not.',
        { examples: [['CreateFeed']] },
      ),
    }).exactOptional(),
    '[Tools for AI agents](mcp.md), which are served at `/mcp`. They need the package `@modelcontextprotocol/server`.',
    { defaultText: 'none' },
  ),
};

/** Settings of the tools. */
export type McpSettings = NonNullable<z.output<typeof mcpSettings.mcp>>;
