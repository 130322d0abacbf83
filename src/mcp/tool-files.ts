// Reads the tools of AI agents from manifests, and reports operations that can't be tools.

import { type GraphQLSchema, parse } from 'graphql';
import { createManifestFiles, type Manifest, ManifestError, shortenId } from '../documents/manifest.ts';
import { PreparedDocuments } from '../documents/prepared-documents.ts';
import { shippedManifest } from '../documents/shipped-operations.ts';
import { type DocumentRules, findDocumentProblem } from '../documents/validate.ts';
import { assertInstalled } from '../lib/installation.ts';
import { suggest } from '../lib/words.ts';
import type { McpSettings } from '../settings/settings.ts';
import { createTool, type Tool } from './tools/tool.ts';

interface ToolRules {
  schema: GraphQLSchema;
  /** Limits of documents, which apply to tools as to other operations. */
  limits: DocumentRules;
}

interface ToolProblem {
  /** Path of the setting in `mcp`. */
  path: ['manifest'] | ['mutations', number];
  problem: string;
}

/** Longest name that MCP permits. */
const MAX_NAME = 128;

/** Reads the tools in manifests: queries, and the mutations that the settings list. Returns all problems. */
function readTools(
  manifests: readonly Manifest[],
  mutations: McpSettings['mutations'],
  rules: ToolRules,
): { tools: readonly Tool[]; problems: readonly ToolProblem[] } {
  const documents = new Map(
    manifests.flatMap((manifest) => Object.entries(manifest)).map(([id, text]) => [text, id] as const),
  );
  const prepared = new PreparedDocuments(rules.schema);
  const tools = new Map<string, Tool>();
  const problems: ToolProblem[] = [];
  for (const [text, id] of documents) {
    const tool = readTool(shortenId(id), text, rules, prepared);
    if (typeof tool === 'string') {
      problems.push({ path: ['manifest'], problem: tool });
    } else if (tools.has(tool.name)) {
      problems.push({ path: ['manifest'], problem: `two operations have the name ${tool.name}; rename one` });
    } else {
      tools.set(tool.name, tool);
    }
  }
  const names = [...tools.values()].filter(({ type }) => type === 'mutation').map(({ name }) => name);
  for (const [index, name] of mutations.entries()) {
    const problem = findListProblem(name, tools, names);
    if (problem !== undefined && problems.every(({ path }) => path[0] === 'mutations')) {
      problems.push({ path: ['mutations', index], problem });
    }
  }
  const isTool = ({ type, name }: Tool) => type === 'query' || mutations.includes(name);
  return { tools: [...tools.values()].filter(isTool), problems };
}

/** Returns the tool of a document, or why it can't be one. */
function readTool(id: string, text: string, { schema, limits }: ToolRules, prepared: PreparedDocuments): Tool | string {
  const rejection = findDocumentProblem(schema, text, limits);
  if (rejection !== undefined) {
    return `the document ${id} is rejected: ${rejection.replace(/\.$/, '')}`;
  }
  const document = prepared.of(parse(text));
  const operation = document.operation(undefined);
  if (operation === undefined) {
    return `the document ${id} must contain exactly one operation`;
  }
  const name = operation.node.name?.value;
  if (name === undefined) {
    return `the operation in the document ${id} needs a name, which becomes the name of the tool`;
  }
  return name.length > MAX_NAME
    ? `the name of the operation in the document ${id} has more than ${MAX_NAME} characters`
    : createTool(name, operation, { document: document.node, text, schema });
}

function findListProblem(name: string, tools: ReadonlyMap<string, Tool>, mutations: readonly string[]) {
  const type = tools.get(name)?.type;
  if (type === undefined) {
    return `names "${name}", which is not in the manifest${suggest(name, mutations)}`;
  }
  return type === 'query' ? `names the query "${name}"; remove it, because queries need no entry` : undefined;
}

export type ToolFiles = ReturnType<typeof createToolFiles>;

/**
 * Reads the tools of a manifest, which can be reloaded while the process runs.
 *
 * @throws {SetupError} if the package of MCP is not installed
 * @throws {ManifestError} if the manifest can't be used, or one of its operations can't be a tool
 */
export function createToolFiles(settings: McpSettings, rules: ToolRules) {
  assertInstalled('mcp');
  const { mutations, maxResultBytes } = settings;
  const files = openManifest(settings, rules, (manifests) => {
    current = read(manifests);
  });
  let current = read(files.manifests());

  function read(all: readonly Manifest[]): { tools: readonly Tool[]; manifests: readonly Manifest[] } {
    const { tools, problems } = readTools(all, mutations, rules);
    if (problems.length > 0) {
      throw new ManifestError(problems.map(toClause).join('; '));
    }
    return { tools, manifests: [Object.fromEntries(tools.map(({ hash, text }) => [hash, text]))] };
  }

  return {
    ...files,
    maxResultBytes,
    /** Returns the current tools: the same array until the manifest changes. */
    tools: () => current.tools,
    /** Returns the documents of the tools by SHA-256: the same array until the manifest changes. */
    manifests: () => current.manifests,
  };
}

/** Returns the problems of the tools of a manifest. @throws {ManifestError} if the manifest can't be used */
export const findToolProblems = (settings: McpSettings, rules: ToolRules): readonly ToolProblem[] =>
  readTools(openManifest(settings, rules).manifests(), settings.mutations, rules).problems;

const openManifest = (
  { manifest }: McpSettings,
  { schema }: ToolRules,
  onReload?: Parameters<typeof createManifestFiles>[1],
) => createManifestFiles([manifest ?? shippedManifest(schema)], onReload);

const toClause = ({ path, problem }: ToolProblem): string => {
  const [section, index] = path;
  return index === undefined ? `mcp.${section}: ${problem}` : `mcp.${section}[${index}] ${problem}`;
};
