import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { runNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const HAS_ZSH = spawnSync('zsh', ['--version']).error === undefined;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  await writeFile(folder.path('gateway settings.yaml'), '');
  for (const shell of ['bash', 'zsh']) {
    const { code, stdout, stderr } = await runNotigraph({ cwd: folder.path(), args: ['completion', shell] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await writeFile(folder.path(`completion.${shell}`), stdout);
  }
  return () => folder[Symbol.asyncDispose]();
});

/** Runs a script in a shell without startup files, and returns its output. */
function runShell(shell: string, args: readonly string[], script: string): string {
  const { stdout, stderr, error } = spawnSync(shell, [...args, '-c', script], {
    cwd: folder.path(),
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ stderr, error }).toEqual({ stderr: '', error: undefined });
  return stdout;
}

describe('the completion script for bash', () => {
  it('completes commands, the options of each command, words and files', () => {
    const lines: (readonly [line: string, words: readonly string[]])[] = [
      ['', COMMANDS.map(({ name }) => name).filter((name) => !name.includes(' '))],
      ['com', ['completion']],
      ['sandbox ', ['reset']],
      ['completion ', ['bash', 'zsh']],
      ['--log-level ', ['silent', 'error', 'warn', 'info', 'debug']],
      ['--log-level = de', ['debug']],
      ['serve --graphiql o', ['on', 'off']],
      ['--port ', []],
      ['--config gate', ['gateway settings.yaml']],
      ['sandbox --file gate', ['gateway settings.yaml']],
      ['sandbox reset gate', ['gateway settings.yaml']],
      ...COMMANDS.map(({ name, options }) => {
        const names = options.flatMap((option) => [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])]);
        return [`${name} -`, [...names, '--help', '-h', '--version', '-v']] as const;
      }),
    ];
    const calls = lines.map(([line]) => {
      const words = ['notigraph', ...line.split(' ')].map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _notigraph; (IFS=,; echo "\${COMPREPLY[*]}")`;
    });
    const output = runShell('bash', ['--norc'], `source ./completion.bash\n${calls.join('\n')}`);
    const found = output.trimEnd().split('\n');
    expect(lines.map(([line], i) => [line, found[i]?.split(',').toSorted()])).toEqual(
      lines.map(([line, words]) => [line, words.length === 0 ? [''] : words.toSorted()]),
    );
    expect(runShell('bash', ['--norc'], 'source ./completion.bash; complete -p notigraph')).toBe(
      'complete -F _notigraph notigraph\n',
    );
  });
});

describe('the completion script for zsh', () => {
  it.skipIf(!HAS_ZSH)('completes the same in an interactive shell (skipped if zsh is not installed)', () => {
    const lines = {
      'sand\t': 'sandbox',
      'sandbox r\t': 'sandbox reset',
      'completion z\t': 'completion zsh',
      '--gra\ton': '--graphiql on',
      '--log-level d\t': '--log-level debug',
      '--workers a\t': '--workers auto',
      '--config gate\t': '--config gateway settings.yaml',
      'sandbox --rate\t9': 'sandbox --rate-limit 9',
      'sandbox reset --y\t': 'sandbox reset --yes',
      'sandbox reset gate\t': 'sandbox reset gateway settings.yaml',
    };
    const setUp = `PROMPT=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source ./completion.zsh; notigraph() { print -r -- "go"t"<$*>" }`;
    const script = `zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell ${JSON.stringify(setUp).replaceAll('$', '\\$')}
      for line in ${Object.keys(lines)
        .map((line) => `$'notigraph ${line.replaceAll('\t', '\\t')}'`)
        .join(' ')}; do
        zpty -w shell $line
        zpty -r shell output '*got<*>*'
        print -r -- "\${\${output##*got<}%%>*}"
      done
      zpty -d shell`;
    const found = runShell('zsh', ['-f'], script).replaceAll('\r', '').trimEnd().split('\n');
    expect(found.map((line) => line.trimEnd())).toEqual(Object.values(lines));
  });
});
