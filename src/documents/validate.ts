// Parses and validates documents, rejects those larger than any real client needs, and finds deprecated elements.

import {
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  NoDeprecatedCustomRule,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  separateOperations,
  specifiedRules,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { setNodes, truncateMessage } from '../errors/located-error.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { createManifestFiles } from './manifest.ts';
import { type DocumentLimits, findExceededLimit, MAX_CHARACTERS, MAX_TOKENS } from './operations/limits.ts';

/** Rules that the documents of a gateway must keep. */
export type DocumentRules = DocumentLimits & Pick<GatewaySettings, 'introspection'>;

const MAX_ERRORS = 5;

/** Matches the parser's error for too many tokens, which has no code. Version 16 writes `more that`. */
const TOO_MANY_TOKENS = /^Syntax Error: Document contains more tha[nt] \d+ tokens\./;

/**
 * Creates a plugin that limits the text before parsing, and the document before validation, because some validation rules take more than
 * linear time. It checks the final document, which another plugin may have replaced.
 */
export function useDocumentLimits(limits: DocumentRules): Plugin {
  const { introspection } = limits;
  const accepted = new WeakSet<DocumentNode>();
  return {
    onParse({ params: { source }, setParseFn }) {
      if (source.toString().length > MAX_CHARACTERS) {
        throw limitExceeded(`The document has more than ${MAX_CHARACTERS} characters.`); // Thrown before the document is cached.
      }
      setParseFn((text, options) => parseWithinLimit(text, options));
    },
    onValidate({ params: { documentAST }, setValidationFn, addValidationRule, setResult }) {
      if (!introspection) {
        addValidationRule(NoSchemaIntrospectionCustomRule);
      }
      setValidationFn((schema, document, rules) =>
        validateDocument(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection }),
      );
      if (accepted.has(documentAST)) {
        return;
      }
      const problem = findExceededLimit(documentAST, limits);
      if (problem === undefined) {
        accepted.add(documentAST);
      } else {
        setResult([limitExceeded(problem)]);
      }
    },
  };
}

/** Returns the documents of manifests, each with why requests with it would be rejected. */
export const checkDocuments = (
  manifests: GatewaySettings['trustedDocuments']['manifests'],
  schema: GraphQLSchema,
  limits: DocumentRules,
) =>
  manifests.flatMap((manifest, index) =>
    createManifestFiles([manifest])
      .manifests()
      .flatMap((texts) => Object.entries(texts))
      .map(([id, text]) => ({ index, id, text, problem: findDocumentProblem(schema, text, limits) })),
  );

/** Returns why requests with a document would be rejected; undefined if it is valid. */
export function findDocumentProblem(schema: GraphQLSchema, text: string, limits: DocumentRules): string | undefined {
  const { introspection } = limits;
  if (text.length > MAX_CHARACTERS) {
    return `The document has more than ${MAX_CHARACTERS} characters.`;
  }
  try {
    const document = parseWithinLimit(text);
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
    const [error] = validateDocument(schema, document, rules, { maxErrors: 1, hideSuggestions: false });
    return findExceededLimit(document, limits) ?? error?.message;
  } catch (error) {
    if (error instanceof GraphQLError) {
      return error.message;
    }
    throw error;
  }
}

function parseWithinLimit(...[source, options]: Parameters<typeof parse>): DocumentNode {
  try {
    return withoutStack(() => parse(source, { ...options, maxTokens: MAX_TOKENS }));
  } catch (error) {
    const isLimit = error instanceof GraphQLError && TOO_MANY_TOKENS.test(error.message);
    throw isLimit ? limitExceeded(`The document has more than ${MAX_TOKENS} tokens.`) : error;
  }
}

export const limitExceeded = (problem: string): GraphQLError =>
  new GraphQLError(problem, { extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED', http: { status: 400 } } });

/** Maximum nodes of an error. A conflict of fields can name hundreds, and errors are cached with their document. */
const MAX_NODES = 10;

/**
 * Validates a document as graphql-js does. Passes the rules a copy without locations, because GraphQLError's constructor would scan the
 * source for the location of each node. The rule that compares fields in pairs runs only if there are no other errors.
 *
 * @param options whether messages leave out suggestions, which reveal names of the schema, and how many errors are reported
 */
function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
  options: { maxErrors: number; hideSuggestions: boolean },
): GraphQLError[] {
  const originals = new Map<unknown, ASTNode>();
  const copy = copyDocument(document, originals);
  const errorsBy = (some: readonly ValidationRule[]) => validate(schema, copy, some, options);
  const errors = [...errorsBy(rules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule))];
  if (errors.length === 0 && rules.includes(OverlappingFieldsCanBeMergedRule)) {
    errors.push(...errorsBy([OverlappingFieldsCanBeMergedRule]));
  }
  const toCached = ({ message, nodes = [], extensions }: GraphQLError): GraphQLError =>
    setNodes(
      new GraphQLError(truncateMessage(message), { extensions }),
      nodes.slice(0, MAX_NODES).map((node) => originals.get(node) ?? node),
    );
  return withoutStack(() => errors.slice(0, options.maxErrors).map(toCached));
}

/** Copies a document without locations. @param originals gets the original of each node */
function copyDocument(document: DocumentNode, originals: Map<unknown, ASTNode>): DocumentNode {
  const open: ASTNode[] = [];
  return visit(document, {
    enter: (node) => void open.push(node),
    leave(node) {
      const copy = { ...node, loc: undefined };
      originals.set(copy, open.pop() ?? node);
      return copy;
    },
  });
}

/**
 * Runs a function without recording stack traces in its errors. A trace keeps everything alive that its functions can reach: 24 KB per
 * validation error, and these are cached with their documents.
 */
function withoutStack<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, 'stackTraceLimit', 0); // Unlike an assignment, it doesn't throw with --frozen-intrinsics.
  try {
    return run();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

/** Element in a message of `NoDeprecatedCustomRule`: `The field Workflow.draft is …`, `Field "Query.stats" argument "days" is …`; in graphql 17 `The argument "Query.stats(days:)" is …`. */
const IN_MESSAGE =
  /^(?:The )?(?:input field|field|enum value|argument|Directive) "?(@?[\w.]+)(?:"? argument "|\()?(\w+)?/i;

/** Returns the coordinates of the deprecated elements in the text of an operation. Elements that are only in its variables are not found. */
export function readDeprecatedUsage(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
): readonly string[] {
  const separated = separateOperations(document)[name?.value ?? ''] ?? document;
  const found = validate(schema, separated, [NoDeprecatedCustomRule]).map(({ message }) => {
    const [, element = '', argument] = IN_MESSAGE.exec(message) ?? [];
    return argument === undefined ? element : `${element}(${argument}:)`;
  });
  return [...new Set(found)];
}

/**
 * Returns the reasons of all deprecated elements of a schema by coordinate: `Type.field`, `Type.field(argument:)`, `Input.field`,
 * `Enum.VALUE`, and `@directive(argument:)`.
 */
export function listDeprecated(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (
    elements: readonly Pick<GraphQLArgument, 'name' | 'deprecationReason'>[],
    toCoordinate: (name: string) => string,
  ) => {
    for (const { name, deprecationReason } of elements) {
      if (deprecationReason != null) {
        found.set(toCoordinate(name), deprecationReason);
      }
    }
  };
  for (const { name: directive, args } of schema.getDirectives()) {
    add(args, (name) => `@${directive}(${name}:)`);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    const ofType = (name: string) => `${type.name}.${name}`;
    if (isEnumType(type)) {
      add(type.getValues(), ofType);
    } else if (isInputObjectType(type)) {
      add(Object.values(type.getFields()), ofType);
    } else if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      add(fields, ofType);
      for (const field of fields) {
        add(field.args, (name) => `${ofType(field.name)}(${name}:)`);
      }
    }
  }
  return found;
}
