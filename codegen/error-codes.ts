import { ERROR_CODES, type ErrorCodeEntry } from '../src/errors/codes.ts';
import { withoutLinks } from '../src/lib/markdown.ts';
import { code, table } from './markdown.ts';

const ENTRIES: [code: string, entry: ErrorCodeEntry][] = Object.entries(ERROR_CODES);

/** Writes the codes as a type of the client, with their meaning and remedy as comments. */
export const writeErrorCodeType = (): string =>
  `/** Codes of the errors that a gateway sends. */\nexport type KnownErrorCode =${ENTRIES.map(
    ([name, { meaning, remedy }]) => `\n  /** ${withoutLinks(meaning)} ${withoutLinks(remedy)} */\n  | '${name}'`,
  ).join('')};\n`;

/** Writes the table of docs/errors.md. */
export const writeErrorCodeTable = (): string =>
  table(
    ['`code`', 'status', 'meaning', 'what to do'],
    ENTRIES.map(([name, { status, meaning, remedy }]) => [code(name), String(status ?? ''), meaning, remedy]),
  );
