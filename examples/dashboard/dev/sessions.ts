// Keeps people signed in across reloads, in place of the sessions of your own server.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface SessionsOptions {
  /** Address of the issuer. */
  issuer: string;
  /** Exact origins of the app, such as `http://localhost:5173`. Other pages get no tokens. */
  origins: readonly string[];
  /** The current time, for the sessions. @default () => new Date() */
  now?: () => Date;
}

/** Responds to the requests for sessions. Returns false for any other request, and leaves it alone. */
export type SessionHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Answer {
  status: number;
  /** JSON. */
  body?: string;
  cookie?: string;
}

const COOKIE = 'notigraph-dashboard-session';

/** Lifetime of a session. The issuer is asked for each token, so a person that it refuses is out earlier. */
const SESSION_SECONDS = 8 * 60 * 60;

/**
 * The browser holds a cookie that no script can read, with the id of a session in this process; the page exchanges it for short-lived tokens.
 *
 * | request | answer |
 * | --- | --- |
 * | `GET /session/people` | who can sign in |
 * | `POST /session` with `{ "person": "ada" }` | a new session, and its first token: the issuer's answer |
 * | `POST /session/token` | another token; 401 without a session |
 * | `DELETE /session` | ends the session |
 */
export function createSessions({ issuer, origins, now = () => new Date() }: SessionsOptions): SessionHandler {
  const sessions = new Map<string, { person: string; expiresAt: number }>();

  async function signIn(request: IncomingMessage, origin: string): Promise<Answer> {
    const answer = await askIssuer('/token', await text(request));
    if (answer.status !== 200) {
      return answer;
    }
    sessions.delete(idOf(request));
    const time = now().getTime();
    for (const [old, { expiresAt }] of sessions) {
      if (time >= expiresAt) {
        sessions.delete(old);
      }
    }
    const id = randomBytes(32).toString('base64url');
    const { person }: { person: string } = JSON.parse(answer.body);
    sessions.set(id, { person, expiresAt: time + SESSION_SECONDS * 1000 });
    return { ...answer, cookie: cookieOf(id, SESSION_SECONDS, origin) };
  }

  async function renew(request: IncomingMessage): Promise<Answer> {
    const session = sessions.get(idOf(request));
    if (session === undefined || now().getTime() >= session.expiresAt) {
      return refuse(401, 'Nobody is signed in.');
    }
    const answer = await askIssuer('/token', JSON.stringify({ person: session.person }));
    if (answer.status === 403) {
      sessions.delete(idOf(request));
    }
    return answer;
  }

  function signOut(request: IncomingMessage, origin: string): Answer {
    sessions.delete(idOf(request));
    return { status: 204, cookie: cookieOf('', 0, origin) };
  }

  async function askIssuer(path: string, body?: string): Promise<{ status: number; body: string }> {
    const response = await fetch(issuer + path, body === undefined ? {} : { method: 'POST', body });
    return { status: response.status, body: await response.text() };
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method, url, headers } = request;
    if (method === 'GET' && url === '/session/people') {
      return askIssuer('/people');
    }
    // SameSite lets pages of other ports of this computer send the cookie. Browsers add Origin to every other method than GET and HEAD.
    const { origin } = headers;
    if (origin === undefined || !origins.includes(origin)) {
      return refuse(403, 'This origin is not the app.');
    }
    switch (`${method} ${url}`) {
      case 'POST /session':
        return signIn(request, origin);
      case 'POST /session/token':
        return renew(request);
      case 'DELETE /session':
        return signOut(request, origin);
      default:
        return refuse(404, 'Not found.');
    }
  }

  return (request, response) => {
    if (!/^\/session(?:\/|$)/.test(request.url ?? '')) {
      return false;
    }
    void answer(request)
      .catch(() => refuse(502, 'The issuer is unavailable.'))
      .then(({ status, body, cookie }) => {
        response.writeHead(status, {
          'cache-control': 'no-store',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(cookie !== undefined && { 'set-cookie': cookie }),
        });
        response.end(body);
      });
    return true;
  };
}

const refuse = (status: number, message: string): Answer => ({ status, body: JSON.stringify({ message }) });

/** Returns the id in the cookie, which may be that of no session. */
const idOf = ({ headers }: IncomingMessage): string =>
  new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(headers.cookie ?? '')?.[1] ?? '';

function cookieOf(id: string, seconds: number, origin: string): string {
  // Other servers on this host name, such as the gateway, don't get it: cookies ignore ports, but not paths. With http, as on 127.0.0.1,
  // browsers may reject a Secure cookie.
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${id}; Path=/session; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
