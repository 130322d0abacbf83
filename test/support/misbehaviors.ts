// Lists the ways in which a service can misbehave.

import { type Connection, formatResponse, HEAD } from './service.ts';

/** Misbehaving scripts by name. Each puts `echo` wherever a service could repeat the credential. */
export const MISBEHAVIORS = {
  'never responds': () => {},
  'drips its head': ({ send, drip }, echo) => {
    send(`HTTP/1.1 200 OK\r\nx-echo: ${echo}`);
    drip('a', 20);
  },
  'drips its body': ({ send, drip }) => {
    send(`${HEAD}content-length: 5000\r\n\r\n`);
    drip(' ', 20);
  },
  'drips an HTML page': ({ send, drip }, echo) => {
    send(`HTTP/1.1 200 OK\r\ncontent-type: text/html; echo=${echo}\r\ncontent-length: 5000\r\n\r\n`);
    drip(' ', 20);
  },
  'sends only a 103': ({ send }, echo) => {
    send(`HTTP/1.1 103 Early Hints\r\nlink: <${echo}>\r\n\r\n`);
  },
  'closes at once': ({ end }) => end(),
  'resets at once': ({ reset }) => reset(),
  'resets after its head': ({ send, reset }, echo) => {
    send(`${HEAD}x-echo: ${echo}\r\ncontent-length: 5000\r\n\r\n{`);
    setTimeout(reset, 10); // At once, the reset would overtake the head.
  },
  'sends less than Content-Length and closes': ({ send, end }, echo) => {
    send(`${HEAD}content-length: 5000\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
    end();
  },
  'sends less than Content-Length and waits': ({ send }, echo) => {
    send(`${HEAD}content-length: 5000\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
  },
  'sends more than Content-Length': ({ send }, echo) => {
    send(`${HEAD}content-length: 5\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
  },
  'leaves its chunks unfinished': ({ send, end }) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n`);
    end();
  },
  'leaves its last chunks unfinished': ({ send, end }) => {
    send(`${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n`);
    end();
  },
  'sends chunks without a size': ({ send }, echo) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\n${echo}\r\n{"_id":"x"}\r\n`);
  },
  'sends a chunk size that overflows': ({ send }, echo) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n${echo}`);
  },
  'sends two lengths': ({ send }) => send(`${HEAD}content-length: 11\r\ncontent-length: 5\r\n\r\n{"_id":"x"}`),
  'sends a length and chunks': ({ send }) =>
    send(`${HEAD}content-length: 11\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n0\r\n\r\n`),
  'speaks another protocol': ({ send }, echo) => send(`SSH-2.0-OpenSSH_9.0 ${echo}\r\n`),
  'speaks HTTP/2': ({ send }) => send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'sends an invalid status': ({ send }, echo) => send(`HTTP/1.1 2x0 ${echo}\r\n\r\n`),
  'sends a status below 100': ({ send }, echo) => send(`HTTP/1.1 099 ${echo}\r\ncontent-length: 0\r\n\r\n`),
  'ends lines without CR': ({ send }, echo) => send(`HTTP/1.1 200 ${echo}\ncontent-length: 0\n\n`),
  'sends a header with a NUL': ({ send }, echo) => send(`${HEAD}x-\0echo: ${echo}\r\ncontent-length: 0\r\n\r\n`),
  'sends 20 KiB of headers': ({ send }, echo) =>
    send(`${HEAD}x-echo: ${echo.padEnd(20 * 1024, 'x')}\r\ncontent-length: 0\r\n\r\n`),
  'sends eleven interim responses': ({ send }) => send('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11)),
  // R28
  'sends a 100 that was not requested': ({ send }) =>
    send(`HTTP/1.1 100 Continue\r\n\r\n${formatResponse({ body: {} })}`),
  'switches the protocol': ({ send }) =>
    send('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  'responds with 304': ({ send }) => send('HTTP/1.1 304 Not Modified\r\n\r\n'),
  'sends an HTML page': ({ answer }, echo) =>
    answer({ headers: { 'content-type': 'text/html' }, body: `<p>${echo}</p>` }),
  'sends an unknown content type': ({ answer }, echo) =>
    answer({ headers: { 'content-type': `application/${echo.replace(/\W/g, '')}` }, body: {} }),
  'sends an unknown content encoding': ({ answer }, echo) =>
    answer({ headers: { 'content-encoding': echo }, body: {} }),
  'sends invalid JSON': ({ answer }, echo) => answer({ body: `{"${echo}` }),
  'sends invalid UTF-8': ({ send }) =>
    send(Buffer.concat([Buffer.from(`${HEAD}content-length: 3\r\n\r\n"`), Buffer.from([0xff, 0x22])])),
} satisfies Record<string, (connection: Connection, echo: string) => void>;

export type Misbehavior = keyof typeof MISBEHAVIORS;
