import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Change of the code after a marker that takes its guard away. */
export interface Mutant {
  file: string;
  line: number;
  /** Test file that must fail. */
  test: string;
  change: string;
  /** The whole file with this change. */
  source: string;
}

type Edit = readonly [node: ts.Node, replacement: string];

const MARKER = /^ *\/\/ guard: (?<test>\S+)\s+/gm;

const COMPARISONS = new Set<ts.SyntaxKind>([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
]);

/** Logical operators, with the operand that changes nothing and the one that decides. */
const LOGICAL = new Map<ts.SyntaxKind, readonly [neutral: string, decisive: string]>([
  [ts.SyntaxKind.AmpersandAmpersandToken, ['true', 'false']],
  [ts.SyntaxKind.BarBarToken, ['false', 'true']],
]);

const operandsOf = (node: ts.Expression, operator: ts.SyntaxKind): ts.Expression[] =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === operator
    ? [...operandsOf(node.left, operator), node.right]
    : [node];

/** Operands that narrow a type for those after them. */
const NARROWS = /^typeof |!== (?:undefined|null)$|^Array\.isArray\(/;

/** Returns the edits that leave out an operand of the condition, or decide it. */
function editsOfCondition(condition: ts.Expression): Edit[] {
  const operator = ts.isBinaryExpression(condition) ? condition.operatorToken.kind : ts.SyntaxKind.Unknown;
  const values = LOGICAL.get(operator);
  if (values === undefined) {
    return [
      [condition, 'false'],
      [condition, 'true'],
    ];
  }
  const [neutral, decisive] = values;
  const operands = operandsOf(condition, operator).filter((operand) => !NARROWS.test(operand.getText()));
  return [...operands.map((operand) => [operand, neutral] as const), [condition, decisive]];
}

/** Methods whose result is a safer form of their object. */
const CLEANERS = new Set(['filter', 'replace', 'replaceAll', 'toLowerCase']);

function editsOfCall(call: ts.CallExpression): Edit[] | undefined {
  const { expression, arguments: bounds } = call;
  if (!ts.isPropertyAccessExpression(expression)) {
    return undefined;
  }
  if (/^Math\.(?:min|max)$/.test(expression.getText())) {
    return bounds.map((bound) => [call, bound.getText()]);
  }
  return CLEANERS.has(expression.name.text) ? [[call, expression.expression.getText()]] : undefined;
}

/** Returns the edits of the outermost condition, bound, filter, list or text with values in the node. */
function findEdits(node: ts.Node): Edit[] | undefined {
  if (ts.isIfStatement(node)) {
    return operandsOf(node.expression, ts.SyntaxKind.BarBarToken).map((operand) => [operand, 'false']);
  }
  if (ts.isConditionalExpression(node)) {
    return editsOfCondition(node.condition);
  }
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      return [
        [node, `(${left.getText()})`],
        [node, `(${right.getText()})`],
      ];
    }
    if (COMPARISONS.has(operatorToken.kind) || LOGICAL.has(operatorToken.kind)) {
      return editsOfCondition(node);
    }
  }
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1) {
    return node.elements.map((element) => [element, '...[]']);
  }
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.map(({ expression }) => [expression, "''"]);
  }
  const edits = ts.isCallExpression(node) ? editsOfCall(node) : undefined;
  return edits ?? (ts.isBlock(node) ? undefined : ts.forEachChild(node, findEdits));
}

/** Returns the edits of the outermost part of the code that starts at the position. */
export function editsAt(file: ts.SourceFile, position: number): Edit[] {
  const find = (node: ts.Node): ts.Node | undefined =>
    node !== file && node.getStart() === position ? node : ts.forEachChild(node, find);
  const node = find(file);
  const neutral = node && ts.isBinaryExpression(node.parent) && LOGICAL.get(node.parent.operatorToken.kind)?.[0];
  if (node !== undefined && neutral) {
    return [[node, neutral]];
  }
  const edits = node && !ts.isThrowStatement(node) ? findEdits(node) : undefined;
  if (node === undefined || edits !== undefined) {
    return edits ?? [];
  }
  if (ts.isPropertyAssignment(node)) {
    return [[node, '...{}']];
  }
  return ts.isExpressionStatement(node) || ts.isThrowStatement(node) ? [[node, ';']] : [];
}

/** Returns the mutants of all markers. */
export function findMutants(root: string): Mutant[] {
  return globSync('{src,packages}/**/*.{ts,tsx}', { cwd: root }).flatMap((file) => {
    const source = readFileSync(`${root}/${file}`, 'utf8');
    const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
    return [...source.matchAll(MARKER)].flatMap(({ index, 0: { length }, groups: { test = '' } = {} }) => {
      const position = index + length;
      const line = tree.getLineAndCharacterOfPosition(position).line + 1;
      const edits = editsAt(tree, position);
      if (edits.length === 0) {
        throw new Error(`${file}:${line}: nothing to take away after this marker`);
      }
      return edits.map(([node, replacement]) => ({
        file,
        line,
        test,
        change: `${node.getText().replace(/\s+/g, ' ')} → ${replacement}`,
        source: source.slice(0, node.getStart()) + replacement + source.slice(node.getEnd()),
      }));
    });
  });
}
