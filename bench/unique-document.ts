import { POPULATION, workflowId } from './ids.ts';

const ALIAS_DIGITS = 6;

/**
 * Returns a document that selects the same fields as Q1, and differs from all others in its operation name, its aliases, the order of its
 * fields and an id. All responses have the same length.
 */
export function createDocument(index: number): string {
  let aliases = 0;
  const alias = (): string => {
    aliases += 1;
    return `a${(index * 32 + aliases).toString(36).padStart(ALIAS_DIGITS, '0')}`;
  };
  const field = (name: string): string => `${alias()}: ${name}`;
  const select = (...fields: string[]): string => {
    const turn = index % fields.length;
    return `{ ${[...fields.slice(turn), ...fields.slice(0, turn)].join(' ')} }`;
  };
  const template = `${field('template')} ${select(field('type'), field('content'), field('subject'))}`;
  const steps = `${field('steps')} ${select(field('name'), field('active'), template)}`;
  const workflow = select(field('name'), field('active'), field('tags'), steps);
  const id = workflowId(index % POPULATION);
  return `query Q${index} { ${field(`workflow(idOrIdentifier: "${id}")`)} ${index % 2 ? workflow : `{ ... on Workflow ${workflow} }`} }`;
}
