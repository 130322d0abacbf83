import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../src/command-line.ts';
import { COMMANDS } from '../src/commands/index.ts';
import { ConfigError } from '../src/config/problem.ts';
import { writeHelp } from '../src/help.ts';

const read = (line: string) => {
  const { command, isNamed, options, args, problems } = readCommandLine(line === '' ? [] : line.split(' '), COMMANDS);
  return { command: isNamed ? command.name : `(${command.name})`, options, ...(args.length > 0 && { args }), problems };
};

describe('the command line', () => {
  it.each([
    ['', { command: '(serve)', options: {} }],
    ['serve --port 4001', { command: 'serve', options: { port: '4001' } }],
    ['-p4001 --sandbox', { command: '(serve)', options: { port: '4001', sandbox: '' } }],
    ['--sandbox -p=4001', { command: '(serve)', options: { port: '4001', sandbox: '' } }],
    [
      '--sandbox mine.db --log-level=debug',
      { command: '(serve)', options: { sandbox: 'mine.db', 'log-level': 'debug' } },
    ],
    ['--modules a,b --modules=c --port 1 --port 2', { command: '(serve)', options: { modules: 'a,b,c', port: '2' } }],
    ['check --modules a --modules b', { command: 'check', options: { modules: 'a,b' } }],
    ['schema print --modules a --modules b', { command: 'schema print', options: { modules: 'a,b' } }],
    ['sandbox --traits a --traits b', { command: 'sandbox', options: { traits: 'a,b' } }],
    [
      'init --origin a --origin b --tenant c --tenant d',
      { command: 'init', options: { origin: 'a,b', tenant: 'c,d' } },
    ],
    ['-h', { command: '(serve)', options: { help: '' } }],
    ['serve --help', { command: 'serve', options: { help: '' } }],
    ['help', { command: '(serve)', options: { help: '' } }],
    ['help serve', { command: 'serve', options: { help: '' } }],
    ['help sandbox reset', { command: 'sandbox reset', options: { help: '' } }],
    ['sandbox -v --help', { command: 'sandbox', options: { version: '', help: '' } }],
    ['sandbox -p 1 --file a.db', { command: 'sandbox', options: { port: '1', file: 'a.db' } }],
    ['sandbox reset', { command: 'sandbox reset', options: {} }],
    ['sandbox reset a.db -y', { command: 'sandbox reset', options: { yes: '' }, args: ['a.db'] }],
    ['schema diff - --format json b', { command: 'schema diff', options: { format: 'json' }, args: ['-', 'b'] }],
    ['version', { command: '(serve)', options: { version: '' } }],
  ])('%j selects a command with its options', (line, expected) => {
    expect(read(line)).toEqual({ ...expected, problems: [] });
  });

  it('keeps every value of an option that adds values with commas', () => {
    const line = 'subscribers import - --map A,b=email --map=C=phone --ignore D --null -';
    const { lists, options, args, problems } = readCommandLine(line.split(' '), COMMANDS);
    expect({ lists, options, args, problems }).toEqual({
      lists: { map: ['A,b=email', 'C=phone'], ignore: ['D'], null: ['-'] },
      options: {},
      args: ['-'],
      problems: [],
    });
    expect(read('subscribers import a.csv --map').problems).toEqual(['--map requires a value.']);
  });

  it.each([
    ['--prot 4001', ['Unknown option "--prot" (did you mean "--port"?). See notigraph serve --help.']],
    ['-xhunter2', ['Unknown option "-x". See notigraph serve --help.']],
    ['--port', ['--port requires a value.']],
    ['--port -h', ['--port requires a value.']],
    ['--port=', ['--port requires a value.']],
    ['--modules a --modules', ['--modules requires a value.']],
    ['--help=hunter2', ['--help takes no value.']],
    ['sandbox --colour blue', ['Unknown option "--colour". See notigraph sandbox --help.']],
    ['--port 1 sandbox', ['Put the command first: notigraph sandbox.']],
    ['--port 1 sandbox reset', ['Put the command first: notigraph sandbox.']],
    ['serve snadbox', ['Unexpected argument "snadbox". See notigraph serve --help.']],
    ['schema diff', ['notigraph schema diff requires an argument: OLD.']],
    ['schema diff a b c', ['Unexpected argument "c". See notigraph schema diff --help.']],
    ['sandbox reset a.db b.db', ['Unexpected argument. See notigraph sandbox reset --help.']],
    ['-- serve', ['Unexpected argument. See notigraph --help.', 'Put the command first: notigraph serve.']],
    [
      'hunter2 --key=hunter2 --colour blue',
      [
        'Unknown option "--key". See notigraph serve --help.',
        'Unknown option "--colour". See notigraph serve --help.',
        'Unexpected argument. See notigraph --help.',
      ],
    ],
  ])('%j is rejected with a suggestion, without its values', (line, problems) => {
    expect(read(line).problems).toEqual(problems);
  });

  it.each([
    ['snadbox', 'Unknown command "snadbox" (did you mean "sandbox"?). See notigraph --help.'],
    ['chekc extra --strict --help', 'Unknown command "chekc" (did you mean "check"?). See notigraph --help.'],
    ['sandbox rset', 'Unknown command "sandbox rset" (did you mean "sandbox reset"?). See notigraph sandbox --help.'],
    ['schema pritn --x', 'Unknown command "schema pritn" (did you mean "schema print"?). See notigraph schema --help.'],
    [
      'import users.csv',
      'Unknown command "import" (did you mean "subscribers import"?). See notigraph subscribers import --help.',
    ],
    [
      'sandbox print',
      'Unknown command "sandbox print" (did you mean "schema print"?). See notigraph schema print --help.',
    ],
    ['help foo', 'Unknown command "foo". See notigraph --help.'],
    ['help snadbox reset', 'Unknown command "snadbox" (did you mean "sandbox"?). See notigraph --help.'],
    [
      'help sandbox rset',
      'Unknown command "sandbox rset" (did you mean "sandbox reset"?). See notigraph sandbox --help.',
    ],
    ['help check foo', 'Unexpected argument "foo". See notigraph check --help.'],
    ['help hunter2', 'Unexpected argument. See notigraph --help.'],
  ])('%j names an unknown command, which is the only problem', (line, problem) => {
    expect(() => read(line)).toThrow(ConfigError);
    expect(() => read(line)).toThrow(new ConfigError([problem]));
  });

  it('accepts the examples of the help', () => {
    const examples = [...writeHelp(undefined, COMMANDS).matchAll(/^ {2}notigraph ?(.*?)(?: {2}|$)/gm)];
    expect(examples.map(([, line = '']) => read(line.trim()).problems)).toEqual([[], [], [], []]);
  });
});
