import type { Socket } from 'node:net';
import { errors } from 'undici';

/** Treatment of the interim responses (status 1xx) that a socket receives. */
export interface InterimResponses {
  /** Expects a response from now on. Called before each request. */
  expect(): void;
}

/** Offset of the status in `HTTP/1.1 100`. */
const STATUS = 'HTTP/1.1 '.length;

const code = (character: string): number => character.charCodeAt(0);
const [ZERO, ONE, TWO, CARRIAGE_RETURN, LINE_FEED] = [code('0'), code('1'), code('2'), code('\r'), code('\n')];

/** Maximum interim responses to one request, because each of them extends the time limit for the headers. */
const MAX_INTERIM = 10;

/**
 * Makes a socket tolerate a `100 Continue` that wasn't requested, as clients must (RFC 9110, 15.2). undici skips other interim responses,
 * but treats this one as an error, so its status becomes 102 while undici reads. Only the head of a response up to its status is inspected,
 * byte by byte, because it may arrive in pieces.
 */
export function tolerateInterimResponses(socket: Socket): InterimResponses {
  const read = socket.read.bind(socket);
  let isExpecting = true;
  let count = 0;
  /** Position in the head; 0 between responses. */
  let at = 0;
  let isHundred = false;
  let isLineEmpty = false;

  function expect(): void {
    isExpecting = true;
    count = 0;
    at = 0;
  }

  function inspect(chunk: Buffer): void {
    for (let i = 0; i < chunk.length && isExpecting; i += 1) {
      const byte = chunk[i] ?? 0;
      if (at > STATUS + 2) {
        inspectHeaders(byte);
      } else if (at > 0 || (byte !== LINE_FEED && byte !== CARRIAGE_RETURN)) {
        inspectStatus(byte);
        if (at === STATUS + 2 && isHundred && byte === ZERO) {
          chunk[i] = TWO;
        }
        at += 1;
      }
    }
  }

  function inspectStatus(byte: number): void {
    if (at === STATUS) {
      isExpecting = byte === ONE;
      count += isExpecting ? 1 : 0;
      if (count > MAX_INTERIM) {
        socket.destroy(new errors.HeadersOverflowError('too many interim responses'));
      }
    } else if (at === STATUS + 1) {
      isHundred = byte === ZERO;
      isLineEmpty = false;
    }
  }

  /** Finds the empty line that ends the head. */
  function inspectHeaders(byte: number): void {
    if (byte === LINE_FEED) {
      at = isLineEmpty ? 0 : at;
      isLineEmpty = true;
    } else if (byte !== CARRIAGE_RETURN) {
      isLineEmpty = false;
    }
  }

  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (isExpecting && chunk instanceof Buffer) {
      inspect(chunk);
    }
    return chunk;
  };
  return { expect };
}
