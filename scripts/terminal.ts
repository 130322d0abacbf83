// Draws the first minute with the project: two terminals as an SVG picture.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { blocks, read } from '../test/support/docs.ts';
import { copyProject } from '../test/support/project-copy.ts';

/** Command in one of two terminals, and its output. */
interface Step {
  terminal: 'server' | 'client';
  /** @default nothing */
  command?: string;
  output: string;
}

/** Operations that follow the README's, which triggers a notification. */
const NEXT = [
  '{ notificationStats(days: 1) { date count } }',
  '{ subscriber(subscriberId: "customer-1001") { firstName lastName } }',
  'mutation { deleteMessagesByTransaction(input: { transactionId: "failed-2" }) { __typename } }',
];

/** Returns the commands of the second terminal: the README's, and those that follow. */
function readCommands(): string[] {
  const trigger = blocks(read('README.md'), 'sh').find((block) => block.startsWith('curl')) ?? '';
  return [trigger, ...NEXT.map((query) => trigger.replace(/-d .*/s, `-d '${JSON.stringify({ query })}'`))];
}

/** Records the README's first minute: what really happens in a copy of the project. @returns an animated SVG */
export async function drawFirstMinute(): Promise<string> {
  await using project = await copyProject();
  const server = spawn('script', ['--quiet', '--command', 'npm start', '/dev/null'], { cwd: project.path() });
  const closed = once(server, 'close');
  let unread = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    unread += text;
  });
  const readUntil = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(unread)) {
      await Promise.race([once(server.stdout, 'data'), closed.then(() => Promise.reject(new Error(unread)))]);
    }
    const output = unread;
    unread = '';
    return output;
  };
  const steps: Step[] = [];
  try {
    steps.push({ terminal: 'server', command: 'npm start', output: await readUntil(/ curl [^\n]*\n/) });
    for (const command of readCommands()) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command]);
      steps.push({ terminal: 'client', command, output: stdout });
      steps.push({ terminal: 'server', output: await readUntil(/ ms, [^\n]*\n/) });
    }
  } finally {
    server.stdin.write('\u0003'); // Ctrl-C.
    await closed;
  }
  return draw(steps);
}

/** Text of one color. */
interface Span {
  text: string;
  color: string;
}

/** Row of a terminal. Rows of the same step appear together; what is typed before what is printed. */
interface Row {
  spans: readonly Span[];
  seconds: number;
}

const COLUMNS = 104;

/** Pixels. Most monospaced fonts of 13 pixels are this wide. */
const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 16;
const TITLE = 34;

/** Seconds until typed commands are answered, until the next one, and of a round, which ends with a pause. */
const ANSWER = 1;
const PAUSE = 1.5;
const ROUND = 16;

const TITLES: Record<Step['terminal'], string> = { server: 'Terminal 1', client: 'Terminal 2' };

/** Colors of the codes that the log uses. */
const COLORS: Record<number, string> = { 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow' };

function draw(steps: readonly Step[]): string {
  const rows: Record<Step['terminal'], Row[]> = { server: [], client: [] };
  let seconds = 0.5;
  for (const { terminal, command, output } of steps) {
    if (command !== undefined) {
      const typed = command.trim().split('\n');
      rows[terminal].push(...typed.map((line, i) => ({ spans: [prompt(i), { text: line, color: 'typed' }], seconds })));
      seconds += ANSWER;
    }
    rows[terminal].push(...toLines(output).map((spans) => ({ spans, seconds })));
    seconds += terminal === 'server' ? PAUSE : 0.1;
  }
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const parts: string[] = [];
  let y = 0;
  for (const terminal of ['server', 'client'] as const) {
    const height = TITLE + rows[terminal].length * LINE + MARGIN;
    parts.push(`<rect class="window" x="0.5" y="${y + 0.5}" width="${width - 1}" height="${height - 1}" rx="8"/>`);
    parts.push(`<text class="title" x="${MARGIN}" y="${y + 22}">${TITLES[terminal]}</text>`);
    parts.push(...rows[terminal].map((row, i) => drawRow(row, y + TITLE + (i + 0.8) * LINE)));
    y += height + 12;
  }
  const times = [...new Set(Object.values(rows).flatMap((all) => all.map((row) => row.seconds)))];
  return `<!-- Recorded by "npm run pictures": do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y - 12}" width="${width}" height="${y - 12}" role="img">
  <title>npm start prints the addresses. A notification is triggered and counted, its subscriber shown, its messages deleted.</title>
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d1d7e0; white-space: pre }
    .window { fill: #0d1117; stroke: #3d444d }
    .title, .dim { fill: #9198a1 }
    .prompt, .green { fill: #3fb950 }
    .typed { fill: #f0f6fc; font-weight: 600 }
    .yellow { fill: #d29922 }
    .red { fill: #f85149 }
    @media (prefers-reduced-motion: no-preference) {
${times.map(animate).join('\n')}
    }
  </style>
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`;
}

const prompt = (index: number): Span => (index === 0 ? { text: '$ ', color: 'prompt' } : { text: '', color: 'typed' });

const classAt = (seconds: number): string => `at-${Math.round(seconds * 10)}`;

/** Returns the rules that show the rows of one time. */
function animate(seconds: number): string {
  const percent = (100 * seconds) / ROUND;
  const name = classAt(seconds);
  return `      .${name} { animation: ${name} ${ROUND}s infinite }
      @keyframes ${name} { 0%, ${percent.toFixed(2)}% { opacity: 0 } ${(percent + 0.01).toFixed(2)}%, 100% { opacity: 1 } }`;
}

function drawRow({ spans, seconds }: Row, y: number): string {
  const text = spans.map((span) => `<tspan class="${span.color}">${escaped(span.text)}</tspan>`).join('');
  return `<text class="${classAt(seconds)}" x="${MARGIN}" y="${y.toFixed(1)}">${text}</text>`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Returns the rows that a terminal shows: it colors text, and breaks long lines. */
function toLines(output: string): Span[][] {
  return output
    .trim()
    .split(/\r?\n/)
    .flatMap((line) => {
      const [plain = '', ...colored] = line.split('\u001b[');
      if (colored.length === 0) {
        return (plain.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? ['']).map((text) => [{ text, color: 'plain' }]);
      }
      return [
        colored.map((part) => ({
          text: part.replace(/^\d+m/, ''),
          color: COLORS[Number.parseInt(part, 10)] ?? 'plain',
        })),
      ];
    });
}
