import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** One end of the connection between the primary and a worker. */
export interface Channel<Message, Asked> {
  /** Sends a message, optionally with a connection, of which this process keeps a copy. Resolves to whether it was sent. */
  tell(message: Message, connection?: Socket): Promise<boolean>;
  /**
   * Asks the other process, and waits for the answer.
   *
   * @param about plain data that the question is about. By default, there is none
   * @throws if the other process doesn't answer in time
   */
  ask<Kind extends keyof Asked & string>(kind: Kind, timeoutMs: number, about?: object): Promise<Asked[Kind]>;
  /** Handles whatever the other process sent. */
  receive(message: unknown, connection?: unknown): void;
}

/** Options of `createChannel`. */
export interface ChannelOptions<Received, Asked, Answered> {
  /** Sends something to the other process. */
  send(message: object, connection: Socket | undefined, onSent: (error: Error | null) => void): void;
  /** Schema of the messages of the other process. */
  messages: z.ZodType<Received>;
  onMessage(message: Received, connection: unknown): void;
  /** Schemas of the other process' answers, by the kind of question. */
  asked: { readonly [Kind in keyof Asked]: z.ZodType<Asked[Kind]> };
  /** Functions that answer its questions. */
  answers: Answers<Answered>;
}

/** Functions that answer questions, by kind. They don't throw. */
export type Answers<Answered> = {
  readonly [Kind in keyof Answered]: (about: unknown) => Answered[Kind] | Promise<Answered[Kind]>;
};

const questions = z.object({ question: z.int(), kind: z.string(), about: z.unknown().optional() });
const replies = z.object({ answer: z.int(), value: z.unknown() });

/** Creates one end of a connection. Everything that arrives is validated; unknown messages are ignored, such as those of `node --watch`. */
export function createChannel<Message extends object, Received, Asked, Answered>({
  send,
  messages,
  onMessage,
  asked,
  answers,
}: ChannelOptions<Received, Asked, Answered>): Channel<Message, Asked> {
  const waiting = new Map<number, (value: unknown) => void>();
  const answerers = new Map<string, (about: unknown) => unknown>(Object.entries(answers));
  let lastQuestion = 0;

  const tell = (message: object, connection?: Socket): Promise<boolean> =>
    new Promise((resolve) => send(message, connection, (error) => resolve(error === null)));

  async function answer({ question, kind, about }: z.infer<typeof questions>): Promise<void> {
    await tell({ answer: question, value: await answerers.get(kind)?.(about) });
  }

  return {
    tell,
    async ask(kind, timeoutMs, about) {
      lastQuestion += 1;
      const question = lastQuestion;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(question, resolve);
      void tell({ question, kind, about });
      const timeout = new AbortController();
      try {
        const timer = sleep(timeoutMs, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
        return asked[kind].parse(await Promise.race([promise, timer])); // The timer resolves to undefined, which no schema accepts.
      } finally {
        timeout.abort();
        waiting.delete(question);
      }
    },
    receive(message, connection) {
      const { data: question } = questions.safeParse(message);
      const { data: reply } = replies.safeParse(message);
      const { data: other } = messages.safeParse(message);
      if (question !== undefined) {
        void answer(question);
      } else if (reply !== undefined) {
        waiting.get(reply.answer)?.(reply.value);
      } else if (other !== undefined) {
        onMessage(other, connection);
      }
    },
  };
}
