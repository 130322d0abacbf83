import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { isScope, type Scope } from '../../settings/scopes.ts';

/** What an operation needs, found out once for all of its executions. */
export interface RequiredScopes {
  /** Those that are not granted, in the order in which the document needs them. */
  missing(granted: ReadonlySet<Scope>, variables: Readonly<Record<string, unknown>>): readonly Scope[];
}

/** Reads what an operation of a valid document needs. */
export type ReadRequiredScopes = (document: DocumentNode, operationName: string | undefined) => RequiredScopes;

/** A variable that decides whether a field is there. */
interface Condition {
  variable: string;
  /** What it must be for the field to be there. */
  value: boolean;
}

interface Requirement {
  scope: Scope;
  conditions: readonly Condition[];
}

/** Remembers what it found out of a document, which is the same object every time that the document is sent. */
export function createReadRequiredScopes(schema: GraphQLSchema): ReadRequiredScopes {
  const found = new WeakMap<DocumentNode, Map<string | undefined, RequiredScopes>>();
  return (document, operationName) => {
    const ofDocument = found.get(document) ?? new Map<string | undefined, RequiredScopes>();
    found.set(document, ofDocument);
    const required = ofDocument.get(operationName) ?? readRequiredScopes(schema, document, operationName);
    ofDocument.set(operationName, required);
    return required;
  };
}

const NOTHING: readonly Scope[] = [];

/** Whether the field may be there: executors need not agree on what is neither true nor false. */
function mayHold(
  { variable, value }: Condition,
  variables: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, boolean | undefined>,
): boolean {
  const given = variables[variable];
  return (given === undefined ? defaults.get(variable) : given) !== !value;
}

function readRequiredScopes(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): RequiredScopes {
  const operation = getOperationAST(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (operation == null || root == null) {
    return { missing: () => [] };
  }
  const defaults = new Map(
    (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : undefined,
    ]),
  );
  const requirements = collect(schema, document, operation.selectionSet, root);
  return {
    missing(granted, variables) {
      let missing: Set<Scope> | undefined;
      for (const { scope, conditions } of requirements) {
        if (!granted.has(scope) && conditions.every((condition) => mayHold(condition, variables, defaults))) {
          missing ??= new Set();
          missing.add(scope);
        }
      }
      return missing === undefined ? NOTHING : [...missing];
    },
  };
}

/** Walks once over an operation and the fragments that it uses. */
function collect(
  schema: GraphQLSchema,
  document: DocumentNode,
  selectionSet: SelectionSetNode,
  root: GraphQLCompositeType,
): Requirement[] {
  const fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const requirements: Requirement[] = [];
  /** How fragments were seen so far. Each is walked twice at most, however often it is spread: what is spread under several conditions counts as always there. */
  const seen = new Map<string, 'sometimes' | 'always'>();

  function need(scope: unknown, conditions: readonly Condition[]): void {
    if (isScope(scope)) {
      requirements.push({ scope, conditions });
    }
  }

  function walk({ selections }: SelectionSetNode, parent: GraphQLCompositeType, outer: readonly Condition[]): void {
    need(parent.extensions.scope, outer); // However it was reached: by a field, or by a fragment on a member of a union.
    for (const selection of selections) {
      const own = conditionsOf(selection.directives);
      if (own === undefined) {
        continue;
      }
      const conditions = [...outer, ...own];
      switch (selection.kind) {
        case Kind.FIELD: {
          const field =
            isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[selection.name.value] : undefined;
          if (field === undefined) {
            break; // `__typename` and introspection need nothing.
          }
          const type = getNamedType(field.type);
          need(field.extensions.scope, conditions);
          if (selection.selectionSet !== undefined && isCompositeType(type)) {
            walk(selection.selectionSet, type, conditions);
          }
          break;
        }
        case Kind.INLINE_FRAGMENT:
          walk(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? parent, conditions);
          break;
        case Kind.FRAGMENT_SPREAD:
          walkFragment(selection.name.value, conditions);
      }
    }
  }

  function walkFragment(name: string, conditions: readonly Condition[]): void {
    const before = seen.get(name);
    const fragment = fragments.get(name);
    const type = typeNamed(fragment?.typeCondition.name.value);
    if (before === 'always' || fragment === undefined || type === undefined) {
      return;
    }
    const isAlways = before === 'sometimes' || conditions.length === 0;
    seen.set(name, isAlways ? 'always' : 'sometimes');
    walk(fragment.selectionSet, type, isAlways ? [] : conditions);
  }

  function typeNamed(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  walk(selectionSet, root, []);
  return requirements;
}

/** The variables that decide over a selection; undefined: it is never there. */
function conditionsOf(directives: readonly DirectiveNode[] = []): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const { name, arguments: args = [] } of directives) {
    const value = args.find((argument) => argument.name.value === 'if')?.value;
    if (name.value !== 'skip' && name.value !== 'include') {
      continue;
    }
    const isDue = name.value === 'include';
    if (value?.kind === Kind.VARIABLE) {
      conditions.push({ variable: value.name.value, value: isDue });
    } else if (value?.kind === Kind.BOOLEAN && value.value !== isDue) {
      return undefined;
    }
  }
  return conditions;
}
