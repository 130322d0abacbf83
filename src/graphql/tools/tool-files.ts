import type { WatchedFiles } from '../../lib/files/file-watcher.ts';
import type { McpSettings } from '../../settings/mcp.ts';
import { type Manifest, ManifestError } from '../documents/manifest.ts';
import { createManifestFiles } from '../documents/manifest-files.ts';
import { shippedManifest } from '../documents/shipped-operations.ts';
import { readTools, type ToolProblem, type ToolRules } from './read-tools.ts';
import type { Tool } from './tool.ts';

/** Tools that can be reloaded while the process runs. */
export interface ToolFiles extends WatchedFiles {
  /** Returns the current tools: the same array until the manifest changes. */
  tools(): readonly Tool[];
  /** Returns the documents of the tools by SHA-256: the same array until the manifest changes. */
  manifests(): readonly Manifest[];
}

/**
 * Reads the tools of a manifest.
 *
 * @throws {ManifestError} if the manifest can't be used, or one of its operations can't be a tool
 */
export function createToolFiles({ manifest = shippedManifest(), mutations }: McpSettings, rules: ToolRules): ToolFiles {
  const files = createManifestFiles([manifest]);
  let source: readonly Manifest[] | undefined;
  let current: { tools: readonly Tool[]; manifests: readonly Manifest[] } = { tools: [], manifests: [] };

  function read(): void {
    const manifests = files.manifests();
    if (manifests !== source) {
      const { tools, problems } = readTools(manifests, mutations, rules);
      if (problems.length > 0) {
        throw new ManifestError(problems.map(toClause).join('; '));
      }
      source = manifests;
      current = { tools, manifests: [Object.fromEntries(tools.map(({ hash, text }) => [hash, text]))] };
    }
  }

  read();
  return {
    tools: () => current.tools,
    manifests: () => current.manifests,
    reload() {
      files.reload();
      read();
    },
    isSettling: () => files.isSettling?.() === true,
  };
}

const toClause = ({ path, problem }: ToolProblem): string => {
  const [section, index] = path;
  return index === undefined ? `mcp.${section}: ${problem}` : `mcp.${section}[${index}] ${problem}`;
};
