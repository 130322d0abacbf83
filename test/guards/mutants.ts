// Finds the guards of declared functions, and the changes that take one of them away.

import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Change of a function that takes one of its guards away. */
export interface Mutant {
  file: string;
  line: number;
  name: string;
  /** Test files of which one must fail. */
  tests: string[];
  change: string;
  /** The whole file with this change. */
  source: string;
}

type Edit = readonly [node: ts.Node, replacement: string];

const DECLARATION = /^guards\(\s*'([^' ]+)',\s*'([^' ]+)',?\s*\);$/gm;
const COMPARISON = /^(?:[!=]==|[<>]=?)$/;

/** Logical operators, with the operand that changes nothing and the one that decides. */
const LOGICAL = new Map([
  ['&&', { neutral: 'true', decisive: 'false' }],
  ['||', { neutral: 'false', decisive: 'true' }],
]);

const operatorOf = (node: ts.Node): string => (ts.isBinaryExpression(node) ? node.operatorToken.getText() : '');

const operandsOf = (node: ts.Expression, operator: string): ts.Expression[] =>
  ts.isBinaryExpression(node) && operatorOf(node) === operator
    ? [...operandsOf(node.left, operator), node.right]
    : [node];

/** Operands that narrow a type for those after them. */
const NARROWS = /^typeof |!== (?:undefined|null)$|^Array\.isArray\(/;

/** Returns the edits that leave out an operand of the condition, or decide it. */
function editsOfCondition(condition: ts.Expression): Edit[] {
  const operator = operatorOf(condition);
  const { neutral, decisive } = LOGICAL.get(operator) ?? {};
  if (neutral === undefined || decisive === undefined) {
    return ['false', 'true'].map((value) => [condition, value]);
  }
  const isNarrowing = (operand: ts.Expression) => operator === '&&' && NARROWS.test(operand.getText());
  const operands = operandsOf(condition, operator).filter((operand) => !isNarrowing(operand));
  return [...operands.map((operand): Edit => [operand, neutral]), [condition, decisive]];
}

/** Methods whose result is a safer form of their object. */
const CLEANERS = new Set(['filter', 'replace', 'replaceAll', 'toLowerCase']);

function editsOfCall(call: ts.CallExpression): Edit[] {
  const { expression, arguments: bounds } = call;
  if (/^Math\.(?:min|max)$/.test(expression.getText())) {
    return bounds.map((bound) => [call, bound.getText()]);
  }
  const isCleaner = ts.isPropertyAccessExpression(expression) && CLEANERS.has(expression.name.text);
  return isCleaner ? [[call, expression.expression.getText()]] : [];
}

function nameOf(node: ts.Node): string | undefined {
  const isDeclaration = ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isClassLike(node);
  const isMember = ts.isClassElement(node) || ts.isObjectLiteralElement(node);
  const isVariable = ts.isVariableDeclaration(node) && ts.isIdentifier(node.name);
  const name = isDeclaration || isMember || isVariable ? node.name?.getText() : undefined;
  return ts.isConstructorDeclaration(node) ? 'constructor' : name;
}

/** Returns the edits in the node, but not in functions with a name. Of conditions in a condition, the outermost counts. */
function editsIn(node: ts.Node): Edit[] {
  if (ts.isFunctionLike(node) && (nameOf(node) ?? nameOf(node.parent)) !== undefined) {
    return [];
  }
  if (ts.isForStatement(node) || ts.isWhileStatement(node)) {
    return editsIn(node.statement); // Without its condition, it would run forever.
  }
  if (ts.isIfStatement(node)) {
    const { expression, thenStatement, elseStatement } = node;
    const own = editsOfCondition(expression).filter(([part, value]) => part !== expression || value === 'false');
    return [...own, ...editsIn(thenStatement), ...(elseStatement ? editsIn(elseStatement) : [])];
  }
  if (ts.isConditionalExpression(node)) {
    return [...editsOfCondition(node.condition), ...editsIn(node.whenTrue), ...editsIn(node.whenFalse)];
  }
  if (ts.isBinaryExpression(node) && operatorOf(node) === '??') {
    return [node.left, node.right].flatMap((operand) => [[node, `(${operand.getText()})`], ...editsIn(operand)]);
  }
  if (ts.isBinaryExpression(node) && (COMPARISON.test(operatorOf(node)) || LOGICAL.has(operatorOf(node)))) {
    return editsOfCondition(node);
  }
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1 && node.elements.some(ts.isSpreadElement)) {
    return node.elements.map((element) => [element, '...[]']);
  }
  if (ts.isTemplateExpression(node) && ts.isReturnStatement(node.parent)) {
    const isKey = node.templateSpans.every(({ literal }) => !/[a-z]/i.test(literal.text)); // Others are messages.
    return isKey ? node.templateSpans.map(({ expression }) => [expression, "''"]) : [];
  }
  const own = ts.isCallExpression(node) ? editsOfCall(node) : [];
  const edits = own.length > 0 || ts.isThrowStatement(node) ? own : node.getChildren().flatMap(editsIn);
  const isStatement = (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) && ts.isBlock(node.parent);
  const isOnlyOne = isStatement && ts.isIfStatement(node.parent.parent) && node.parent.statements.length === 1;
  return edits.length === 0 && isStatement && !isOnlyOne ? [[node, ';']] : edits;
}

/** Returns the declarations with the name, such as `createListener` or `Lane.release`. */
function findDeclarations(node: ts.Node, name: string, around = ''): ts.Node[] {
  const own = nameOf(node);
  const path = own === undefined ? around : `${around}.${own}`;
  const isFound = own !== undefined && path === `.${name}`;
  return isFound ? [node] : node.getChildren().flatMap((child) => findDeclarations(child, name, path));
}

/** Returns the edits of a function or value. A property without a condition is removed. */
function editsOfDeclaration(node: ts.Node): Edit[] {
  const hasValue = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node);
  const code = (hasValue ? node.initializer : undefined) ?? node;
  const edits = ts.isFunctionLike(code) ? code.getChildren().flatMap(editsIn) : editsIn(code);
  return edits.length === 0 && ts.isPropertyAssignment(node) ? [[node, '...{}']] : edits;
}

/** Returns the mutants of all declared functions. */
export function findMutants(root: string): Mutant[] {
  const testsOf = new Map<string, string[]>();
  for (const test of globSync('{test,packages/*/test}/**/*.test.ts', { cwd: root })) {
    for (const [, file, name] of readFileSync(`${root}/${test}`, 'utf8').matchAll(DECLARATION)) {
      testsOf.set(`${file} ${name}`, [...(testsOf.get(`${file} ${name}`) ?? []), test]);
    }
  }
  return [...testsOf].flatMap(([declared, tests]) => {
    const [file = '', name = ''] = declared.split(' ');
    const source = readFileSync(`${root}/${file}`, 'utf8');
    const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
    const edits = findDeclarations(tree, name).flatMap(editsOfDeclaration);
    if (edits.length === 0) {
      throw new Error(`${tests}: ${file} has no function ${name}, or it decides nothing`);
    }
    return edits.map(([node, replacement]) => ({
      file,
      line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      name,
      tests,
      change: `${node.getText().replace(/\s+/g, ' ')} → ${replacement}`,
      source: source.slice(0, node.getStart()) + replacement + source.slice(node.getEnd()),
    }));
  });
}
