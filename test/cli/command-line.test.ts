import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands/index.ts';

const read = (line: string) => {
  const { command, options, argument, problems } = readCommandLine(line === '' ? [] : line.split(' '), COMMANDS);
  return { command: command.name, options, ...(argument !== undefined && { argument }), problems };
};

describe('the command line', () => {
  it.each([
    ['', { command: 'serve', options: {} }],
    ['serve --port 4001', { command: 'serve', options: { port: '4001' } }],
    ['-p4001 --sandbox', { command: 'serve', options: { port: '4001', sandbox: '' } }],
    ['--sandbox -p=4001', { command: 'serve', options: { port: '4001', sandbox: '' } }],
    [
      '--sandbox mine.db --log-level=debug',
      { command: 'serve', options: { sandbox: 'mine.db', 'log-level': 'debug' } },
    ],
    ['-h', { command: 'serve', options: { help: '' } }],
    ['help sandbox reset', { command: 'sandbox reset', options: { help: '' } }],
    ['sandbox -v --help', { command: 'sandbox', options: { version: '', help: '' } }],
    ['sandbox -p 1 --file a.db', { command: 'sandbox', options: { port: '1', file: 'a.db' } }],
    ['sandbox reset', { command: 'sandbox reset', options: {} }],
    ['sandbox reset a.db -y', { command: 'sandbox reset', options: { yes: '' }, argument: 'a.db' }],
    ['completion bash', { command: 'completion', options: {}, argument: 'bash' }],
  ])('%j selects a command with its options', (line, expected) => {
    expect(read(line)).toEqual({ ...expected, problems: [] });
  });

  it.each([
    ['--prot 4001', ['Unknown option "--prot" (did you mean "--port"?). See notigraph --help.']],
    ['-xhunter2', ['Unknown option "-x". See notigraph --help.']],
    ['--port', ['--port requires a value.']],
    ['--port -h', ['--port requires a value.']],
    ['--port=', ['--port requires a value.']],
    ['--help=hunter2', ['--help takes no value.']],
    ['snadbox', ['Unknown command "snadbox" (did you mean "sandbox"?). See notigraph --help.']],
    ['sandbox rset', ['Unknown command "sandbox rset" (did you mean "sandbox reset"?). See notigraph sandbox --help.']],
    ['sandbox --colour blue', ['Unknown option "--colour". See notigraph sandbox --help.']],
    ['--port 1 sandbox', ['Put the command first: notigraph sandbox.']],
    ['completion', ['notigraph completion requires an argument: bash|zsh.']],
    ['sandbox reset a.db b.db', ['Unexpected argument. See notigraph sandbox reset --help.']],
    ['-- serve', ['Unexpected argument. See notigraph --help.', 'Put the command first: notigraph serve.']],
    [
      'hunter2 --key=hunter2 --colour blue',
      [
        'Unknown option "--key". See notigraph --help.',
        'Unknown option "--colour". See notigraph --help.',
        'Unexpected argument. See notigraph --help.',
      ],
    ],
  ])('%j is rejected with a suggestion, without its values', (line, problems) => {
    expect(read(line).problems).toEqual(problems);
  });
});
