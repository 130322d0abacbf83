// Errors with their places in a document, like those of graphql-js, but without scanning it for each.

import {
  type ASTNode,
  GraphQLError,
  type Location,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
  type Source,
  type SourceLocation,
} from 'graphql';
import { isRecord } from '../lib/is-record.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { truncate } from '../lib/text.ts';

const MAX_MESSAGE_LENGTH = 300;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Error of the document. Doesn't pass its nodes to GraphQLError, which would scan the source for the location of each. */
export class DocumentError extends GraphQLError {
  readonly documentNodes: readonly ASTNode[];

  constructor(message: string, documentNodes: readonly ASTNode[]) {
    super(message);
    this.documentNodes = documentNodes;
  }
}

/** Checks whether an error is a GraphQLError, also of another copy of graphql: Vitest gives tests and the modules in them one of their own. */
export const isGraphQLError = (error: unknown): error is GraphQLError =>
  error instanceof GraphQLError || (isRecord(error) && error.name === 'GraphQLError' && isRecord(error.extensions));

const invalidValueErrors = new WeakSet<object>();

/** Marks an error of a resolved value that doesn't match the schema. A subclass would differ from the errors of graphql-js. */
export function markInvalidValue<E extends Error>(error: E): E {
  invalidValueErrors.add(error);
  return error;
}

/** Checks whether an error is marked: a resolved value doesn't match the schema, such as null for a non-null field. */
export const isInvalidValueError = (error: unknown): boolean => error instanceof Error && invalidValueErrors.has(error);

/**
 * Converts an error to an entry of the result, like `locatedError` of graphql-js.
 *
 * @param nodes the AST nodes of the field; not used if the error has nodes
 */
export function locate(raw: unknown, nodes: readonly ASTNode[], path: ResponsePath): GraphQLError {
  try {
    return locateReadable(raw, nodes, path);
  } catch {
    return locateReadable(new Error(UNREADABLE), nodes, path); // For example a revoked proxy, or a getter that throws.
  }
}

const located = new WeakSet<GraphQLError>();

/** Message in the log of a thrown value that throws when it is read. */
export const UNREADABLE = 'The thrown value cannot be read.';

function locateReadable(raw: unknown, nodes: readonly ASTNode[], path: ResponsePath): GraphQLError {
  const isOfGraphQL = isGraphQLError(raw);
  if (isOfGraphQL && located.has(raw)) {
    return raw; // At a non-null position below.
  }
  const place = responsePathAsArray(path);
  // Unlike graphql-js, doesn't take the path of another server, or members of other errors, for those of the field.
  const error =
    raw instanceof Error && (!isOfGraphQL || raw.path !== undefined)
      ? new GraphQLError(raw.message, { path: place, originalError: raw })
      : locatedError(raw, undefined, place);
  located.add(error);
  if (error.nodes !== undefined) {
    return error;
  }
  return setNodes(error, raw instanceof DocumentError ? raw.documentNodes : nodes);
}

/** Converts an error of the whole operation to an entry of the result. */
export function toOperationError(raw: unknown): GraphQLError {
  if (raw instanceof DocumentError) {
    return setNodes(new GraphQLError(raw.message), raw.documentNodes);
  }
  return isGraphQLError(raw) ? raw : locatedError(raw, undefined);
}

/** Sets the nodes of an error and what its constructor derives from them. Uses an index of lines: scanning 32 KB would take 1.3 ms. */
export function setNodes(error: GraphQLError, nodes: readonly ASTNode[]): GraphQLError {
  if (nodes.length === 0) {
    return error;
  }
  const places = nodes.map(({ loc }) => loc).filter((loc) => loc !== undefined);
  const source = error.source ?? places[0]?.source;
  return Object.assign(error, {
    nodes,
    source,
    positions: error.positions ?? (places.length > 0 ? places.map(({ start }) => start) : undefined),
    locations: error.locations ?? (places.length > 0 ? places.map(toSourceLocation) : undefined),
  });
}

const lineStartsOf = memoizeByObject(({ body }: Source) => findLineStarts(body));

function toSourceLocation({ source, start }: Location): SourceLocation {
  const lineStarts = lineStartsOf(source);
  let line = 0;
  for (let high = lineStarts.length; high - line > 1; ) {
    const middle = (line + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= start) {
      line = middle;
    } else {
      high = middle;
    }
  }
  return { line: line + 1, column: start + 1 - (lineStarts[line] ?? 0) };
}

/** Compares characters, because matching a regular expression takes 50 times as long. */
function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(index + 1) !== LINE_FEED)) {
      starts.push(index + 1);
    }
  }
  return starts;
}

/** Shortens a message that quotes input. */
export const truncateMessage = (message: string): string => truncate(message, MAX_MESSAGE_LENGTH);

/** Maximum levels, list items and object members that `inspect` of graphql-js shows within the length of a message. */
const SHOWN_DEPTH = 3;
const SHOWN_ITEMS = 10;
const SHOWN_MEMBERS = 100;

/** Cached excerpts. Listing 20,000 keys takes 2 ms, and one value can have several errors. */
const excerptOf = memoizeByObject((value: object) => createExcerpt(value, 0));

/** Returns the part of a value that a truncated message can show, because formatting large values is slow. */
export const excerpt = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? excerptOf(value) : createExcerpt(value, 0);

function createExcerpt(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return value.slice(0, MAX_MESSAGE_LENGTH);
  }
  if (typeof value !== 'object' || value === null || depth > SHOWN_DEPTH) {
    return value;
  }
  if (Array.isArray(value)) {
    const items = value.slice(0, SHOWN_ITEMS).map((item) => createExcerpt(item, depth + 1));
    items.length = value.length; // `inspect` shows the number of further items.
    return items;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    return value; // `inspect` shows its class name or calls its own methods.
  }
  const members: [string, unknown][] = [];
  for (const key of Object.keys(value).slice(0, SHOWN_MEMBERS)) {
    members.push([key.slice(0, MAX_MESSAGE_LENGTH), createExcerpt(Reflect.get(value, key), depth + 1)]);
  }
  return Object.fromEntries(members);
}
