// Shows texts and addresses as people read and open them: the service escapes as HTML what events put into them.

import { describe, expect, it } from 'vitest';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import { startGateway } from '../support/gateway.ts';
import { inboxMessage } from '../support/inbox.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

const signer = createSigner();
const SCOPES = ['inbox:read', 'messages:read', 'workflows:read'] as const;

/** Starts a gateway in front of a service with one message. */
async function start(members: object) {
  const gateway = await startGateway({
    service: () => ({ body: { page: 0, hasMore: false, totalCount: 1, data: [inboxMessage(members)] } }),
    modules: [inbox, messages],
    clients: clientsOf(signer, { scopes: SCOPES }),
  });
  const authorization = await signer.bearer({ scope: SCOPES.join(' ') });
  /** Returns a selection of the message: with a token, or for a server. */
  const show = async (selection: string, isToken = true) => {
    const { body } = await gateway.send(
      `{ inbox${isToken ? '' : '(subscriberId: "user-1")'} { messages { messages { ${selection} } } } }`,
      {},
      isToken ? { authorization } : {},
    );
    expect(body.errors).toBeUndefined();
    return (body.data as { inbox: { messages: { messages: unknown[] } } }).inbox.messages.messages[0];
  };
  return { gateway, show, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

describe('the text of a message', () => {
  it.each([
    ['O&#x27;Brien &amp; Co &lt;3 &quot;tea&quot; &#x60;a&#x60; b&#x3D;c', 'O\'Brien & Co <3 "tea" `a` b=c'],
    ["O'Brien &amp;amp; Co", "O'Brien &amp; Co"], // Once.
    ['<p>Hello <b>Ada</b>,</p><p>your order<br/>is here.</p>', 'Hello Ada,\nyour order\nis here.'],
    ['<ul><li>One</li><li>Two</li></ul>', 'One\nTwo'],
    ['1 < 2 and 3 > 2 <3', '1 < 2 and 3 > 2 <3'],
    ['<style>p { color: red }</style><script>alert(1)</script><!-- note -->Hi<img src=x onerror=alert(1)>', 'Hi'],
    ['&lt;script&gt;alert(1)&lt;/script&gt;', '<script>alert(1)</script>'], // Somebody wrote that.
    ['a&nbsp;b&eacute;', 'a bé'],
    ['line one\nline two', 'line one\nline two'],
    ['<a href="x', '<a href="x'],
    ['', ''],
  ])('%j is %j', async (content, text) => {
    await using service = await start({ content, subject: content });
    expect(await service.show('content text subject subjectText')).toEqual({
      content,
      text,
      subject: content,
      subjectText: text,
    });
    const { body } = await service.gateway.send('{ messages { messages { content text } } }');
    expect(body.data).toEqual({ messages: { messages: [{ content, text }] } });
  });

  it('is null without a content, and for blocks', async () => {
    await using service = await start({ content: [{ type: 'text', content: 'a' }] });
    expect(await service.show('text subjectText')).toEqual({ text: null, subjectText: null });
  });

  it('is read in linear time, whatever the service sends', async () => {
    const content = ['<a', '<!--', '<style ', '</p ', '&amp', '<br'].map((part) => part.repeat(60_000)).join('');
    await using service = await start({ content });
    const before = process.cpuUsage();
    await service.show('text');
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(3_000);
  });
});

const linked = (url: string) => ({
  cta: { type: 'redirect', data: { url, target: '_blank' }, action: { buttons: [] } },
});

describe('the address of a message', () => {
  it.each([
    ['https://shop.example/orders?id&#x3D;7&amp;t&#x3D;1', 'https://shop.example/orders?id=7&t=1'],
    ['/orders?a=1&copy=2&lt=3', '/orders?a=1&copy=2&lt=3'],
    ['myapp://orders/7', 'myapp://orders/7'],
    ['mailto:help@shop.example', 'mailto:help@shop.example'],
  ])('%s is %s', async (sent, url) => {
    await using service = await start(linked(sent));
    expect(await service.show('cta { url target }')).toEqual({ cta: { url, target: '_blank' } });
  });

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java&#x0A;script:alert(1)',
    'javascript&colon;alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:msgbox(1)',
    'blob:https://shop.example/1',
    'https://[',
  ])('%s is null for tokens', async (sent) => {
    await using service = await start(linked(sent));
    expect(await service.show('cta { url }')).toEqual({ cta: { url: null } });
    expect(await service.show('cta { url }', false)).toEqual({ cta: { url: expect.any(String) } });
  });
});

it('the buttons of a message have texts and addresses, and say which one was pressed', async () => {
  const action = {
    status: 'done',
    buttons: [
      { type: 'primary', content: 'Yes &amp; go', url: '/yes?a&#x3D;1', target: '_self' },
      { type: 'secondary', content: 'No', url: 'javascript:alert(1)' },
    ],
    result: { type: 'primary' },
  };
  await using service = await start({ cta: { action } });
  expect(await service.show('cta { status buttons { type content text url target isCompleted } }')).toEqual({
    cta: {
      status: 'done',
      buttons: [
        {
          type: 'primary',
          content: 'Yes &amp; go',
          text: 'Yes & go',
          url: '/yes?a=1',
          target: '_self',
          isCompleted: true,
        },
        { type: 'secondary', content: 'No', text: 'No', url: null, target: null, isCompleted: false },
      ],
    },
  });
});

it('a message tells its kind, and has the data that the workflow made for the app, which is not masked', async () => {
  const data = { orderId: 7, token: 'of-the-app' };
  await using service = await start({ templateIdentifier: 'order-shipped', tags: ['orders'], data });
  expect(await service.show('workflowIdentifier tags data')).toEqual({
    workflowIdentifier: 'order-shipped',
    tags: ['orders'],
    data,
  });
});

it('messages of others are a bad response if only those of some were asked for', async () => {
  await using service = await start({ subscriber: { subscriberId: 'user-2' }, transactionId: 't2' });
  for (const args of [
    'subscriberId: "user-1"',
    'transactionIds: ["t1"]',
    'subscriberId: "user-2", transactionIds: ["t1"]',
  ]) {
    expect((await service.gateway.send(`{ messages(${args}) { messages { id } } }`)).codes).toEqual([
      'UPSTREAM_BAD_RESPONSE',
    ]);
  }
  const { codes } = await service.gateway.send(
    '{ messages(subscriberId: "user-2", transactionIds: ["t2", "t1"]) { messages { id } } }',
  );
  expect(codes).toEqual([]);
  await using deleted = await start({ subscriber: undefined });
  for (const args of ['subscriberId: null', 'subscriberId: "user-1"']) {
    expect((await deleted.gateway.send(`{ messages(${args}) { messages { id } } }`)).codes).toEqual([]);
  }
});
