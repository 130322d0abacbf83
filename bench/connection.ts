// Sends requests of the load on persistent connections, at little cost.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Summary of a response, sufficient to recognize a wrong one at little cost. */
export interface ResponseSummary {
  status: number;
  /** Bytes of the body. */
  length: number;
}

/** Persistent connection that sends one request at a time. */
export interface Connection {
  /** Sends a request. @param onEnd called with the response, or undefined if the connection broke */
  send(request: Buffer, onEnd: (received: ResponseSummary | undefined) => void): void;
  close(): void;
}

interface PartialResponse extends ResponseSummary {
  /** Length from the response head; undefined if the body is chunked. */
  contentLength: number | undefined;
  /** Whether the server closes the connection after it. */
  isLast: boolean;
  /** Last bytes of the chunked body. */
  tail: string;
}

const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Shared by all connections, because each read is processed before the next one. */
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * Opens a connection. It supports only the HTTP/1.1 that the subjects send, because the load shares the machine with the subject, and
 * a complete client costs as much per request as the floor.
 */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;
  let head: Buffer | undefined;
  let response: PartialResponse | undefined;
  let onEnd: ((received: ResponseSummary | undefined) => void) | undefined;

  function open(): Socket {
    const opened = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback(length) {
          receive(readBuffer.subarray(0, length));
          return true;
        },
      },
    });
    opened.on('error', () => {}); // 'close' follows.
    opened.on('close', () => {
      if (opened === socket) {
        socket = undefined;
        end(undefined);
      }
    });
    return opened;
  }

  function receive(bytes: Buffer): void {
    let body = bytes;
    if (response === undefined) {
      const start = head === undefined ? bytes : Buffer.concat([head, bytes]);
      const headEnd = start.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        head = Buffer.from(start); // A copy, because the next read overwrites the buffer.
        return;
      }
      response = readHead(start.toString('latin1', 0, headEnd));
      body = start.subarray(headEnd + 4);
    }
    response.length += body.byteLength;
    if (response.contentLength === undefined) {
      response.tail = (response.tail + body.toString('latin1', Math.max(0, body.byteLength - LAST_CHUNK.length))).slice(
        -LAST_CHUNK.length,
      );
    }
    if (
      response.contentLength === undefined ? response.tail === LAST_CHUNK : response.length >= response.contentLength
    ) {
      end(response);
    }
  }

  function end(received: ResponseSummary | undefined): void {
    const callback = onEnd;
    if (response?.isLast) {
      socket?.destroy();
      socket = undefined;
    }
    [head, response, onEnd] = [undefined, undefined, undefined];
    callback?.(received);
  }

  socket = open();
  await once(socket, 'connect');
  return {
    send(request, onResponse) {
      onEnd = onResponse;
      socket ??= open(); // The subject may have closed it after the last response.
      socket.write(request);
    },
    close() {
      onEnd = undefined;
      socket?.destroy();
    },
  };
}

function readHead(head: string): PartialResponse {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return {
    status: Number(head.slice(9, 12)),
    length: 0,
    isLast: /\r\nconnection: close/i.test(head),
    contentLength: length === undefined ? undefined : Number(length),
    tail: '',
  };
}
