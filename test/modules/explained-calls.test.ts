import type { ObjectRef } from '@pothos/core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { type DependentCallsOptions, declareCalls } from '../../src/graphql/declared-calls.ts';
import { defineModule, ModuleError } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import type { GraphTypes } from '../../src/modules/toolkit/builder.ts';
import { getWorkflow } from '../../src/upstream/endpoints.ts';
import { linesOf, numbersOf, sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { type Script, startService } from '../support/service.ts';
import { bulkOf } from './example.ts';

// What explanations list of modules whose calls follow other calls, and what is reported if they are not declared.

interface NoteBody {
  _id: string;
  authorId: string;
}

/** Returns a module, with declarations of its calls or without. */
const notesOf = ({ isDeclared, max = 3 }: { isDeclared: boolean; max?: number }) =>
  defineModule('notes', (toolkit) => {
    const { builder, bulkMutation, declareCalls, endpoint, entity, loader, mutation, requireScopes } = toolkit;
    const getNote = endpoint('GET /v1/notes/{id}').returns<NoteBody>();
    const listNotes = endpoint('GET /v1/notes', { expect: 'list' })
      .takes<{ query: { page: number } }>()
      .returns<NoteBody[]>();
    const getAuthor = endpoint('GET /v1/authors/{id}').returns<NoteBody>();
    const getTeam = endpoint('GET /v1/teams/{id}').returns<NoteBody>();
    const someTeams = endpoint('GET /v1/teams', { expect: 'list' })
      .takes<{ query: { ids: string } }>()
      .returns<NoteBody[]>();
    const create = endpoint('POST /v1/notes', { idempotent: true })
      .takes<{ body: { name: string } }>()
      .returns<NoteBody>();
    const publish = endpoint('PUT /v1/notes/{id}/published', { expect: 'nothing' });
    const team = loader<NoteBody>({
      name: 'team',
      get: getTeam,
      many: { endpoint: someTeams, keyOf: ({ _id }) => _id, argsOf: (keys) => ({ query: { ids: keys.join() } }) },
    });

    const badge = loader<NoteBody>({
      name: 'badge',
      many: {
        endpoint: endpoint('GET /v1/badges', { expect: 'page' })
          .takes<{ query: { ids: string } }>()
          .returns<{ data: NoteBody[] }>(),
        keyOf: ({ _id }) => _id,
        argsOf: (keys) => ({ query: { ids: keys.join() } }),
      },
    });

    const follow = (...calls: DependentCallsOptions[]) => declareCalls('1 or more', ...(isDeclared ? calls : []));
    const authorCalls = { endpoint: getAuthor, reason: 'One if the note has an author.' };

    const Team = builder.objectRef<NoteBody>('Team').implement({
      description: 'A team.',
      fields: (t) => ({ id: t.exposeID('_id', { description: 'Its id.' }) }),
    });
    const Note: ObjectRef<GraphTypes, NoteBody> = builder.objectRef<NoteBody>('Note').implement({
      extensions: {
        ...requireScopes('notes:read'),
        ...follow(authorCalls),
        ...entity({
          id: async (id, ctx) => {
            const note = await ctx.upstream.read(getNote, { id });
            return note && { ...note, ...(await ctx.upstream.read(getAuthor, { id: note.authorId })) };
          },
        }),
      },
      fields: (t) => ({
        id: t.exposeID('_id', { description: 'Its id.' }),
        careless: t.boolean({
          nullable: true,
          description: 'Writes where no write is sent, and does not wait for it.',
          resolve({ _id }, _args, ctx) {
            void ctx.upstream.write(publish, { id: _id });
            return true;
          },
        }),
        author: t.id({
          nullable: true,
          extensions: follow(authorCalls),
          resolve: async ({ authorId }, _args, ctx) =>
            (await ctx.upstream.read(getAuthor, { id: authorId }))?._id ?? null,
        }),
        team: t.field({
          type: Team,
          nullable: true,
          extensions: follow({ loader: team, reason: 'One per team.' }),
          resolve: ({ _id }, _args, ctx) => ctx.loaders.load(team, _id),
        }),
        badge: t.field({
          type: Team,
          nullable: true,
          extensions: follow({ loader: badge, reason: 'One per badge.' }),
          resolve: ({ _id }, _args, ctx) => ctx.loaders.load(badge, _id),
        }),
        linked: t.field({
          type: Team,
          nullable: true,
          extensions: follow({ loader: team, max: 1, reason: 'Each has another.' }),
          description: 'The team with an id.',
          args: { id: t.arg.id({ required: true }) },
          resolve: (_note, { id }, ctx) => ctx.loaders.load(team, id),
        }),
        copy: t.field({
          type: Note,
          nullable: true,
          extensions: follow({
            endpoint: getNote,
            max: ({ fetch }: { fetch: boolean }) => (fetch ? 1 : 0),
            reason: 'Only if it is asked for.',
          }),
          description: 'The note, which is read again if `fetch` is true.',
          args: { fetch: t.arg.boolean({ required: true }) },
          resolve: (note, { fetch }, ctx) => (fetch ? ctx.upstream.read(getNote, { id: note._id }) : note),
        }),
      }),
    });

    builder.queryFields((t) => ({
      note: t.field({
        type: Note,
        nullable: true,
        extensions: follow(authorCalls),
        description: 'Reads a note, then its author.',
        args: { id: t.arg.id({ required: true }) },
        async resolve(_root, { id }, ctx) {
          const note = await ctx.upstream.read(getNote, { id });
          await (note && ctx.upstream.read(getAuthor, { id: note.authorId }));
          return note;
        },
      }),
      notes: t.field({
        type: [Note],
        nullable: true,
        extensions: follow({ endpoint: listNotes, max, reason: 'One per page.' }),
        async resolve(_root, _args, ctx) {
          const all: NoteBody[] = [];
          for (let page = 1, found = 1; found > 0; page += 1) {
            const notes = (await ctx.upstream.read(listNotes, { query: { page } })) ?? [];
            found = notes.length;
            all.push(...notes);
          }
          return all;
        },
      }),
      headed: t.field({
        type: [Note],
        nullable: true,
        extensions: follow(),
        description: 'Returns notes after one that is always there.',
        async resolve(_root, _args, ctx) {
          const notes = (await ctx.upstream.read(listNotes, { query: { page: 1 } })) ?? [];
          return [{ _id: 'head', authorId: 'a1' }, ...notes];
        },
      }),
      matrix: t.field({
        type: t.listRef(t.listRef(Note)),
        nullable: true,
        extensions: follow(),
        description: 'Returns the notes of each page.',
        args: { pages: t.arg.intList({ required: true }) },
        resolve: (_root, { pages }, ctx) =>
          Promise.all(pages.map(async (page) => (await ctx.upstream.read(listNotes, { query: { page } })) ?? [])),
      }),
      both: t.boolean({
        nullable: true,
        extensions: { ...requireScopes('notes:read'), ...follow() },
        description: 'Reads two authors and a team at the same time.',
        async resolve(_root, _args, ctx) {
          const reads = ['a', 'b'].map((id) => ctx.upstream.read(getAuthor, { id }));
          await Promise.all([...reads, ctx.loaders.load(team, 'x')]);
          return (await ctx.loaders.load(team, 'x')) !== null; // Takes no call.
        },
      }),
      parts: t.field({
        type: [Note],
        nullable: true,
        extensions: follow(),
        description: 'Reads a record that contains a list.',
        resolve: async (_root, _args, ctx) => {
          const note = await ctx.upstream.read(getNote, { id: 'n1' });
          return note && [note, note, note];
        },
      }),
      named: t.field({
        type: [Note],
        nullable: { list: true, items: true },
        extensions: { ...requireScopes('notes:read'), ...follow() },
        description: 'Reads the notes with these ids.',
        args: { ids: t.arg.idList({ required: true }) },
        resolve: (_root, { ids }, ctx) => ids.map((id) => ctx.upstream.read(getNote, { id })),
      }),
      mixed: t.boolean({
        nullable: true,
        extensions: { ...requireScopes('notes:read'), ...follow({ loader: team, reason: 'One if the other exists.' }) },
        description: 'Reads a team, then another one with a loader.',
        async resolve(_root, _args, ctx) {
          const found = await ctx.upstream.read(getTeam, { id: 't1' });
          return found && (await ctx.loaders.load(team, 't2')) !== null;
        },
      }),
      careless: t.boolean({
        nullable: true,
        extensions: { ...requireScopes('notes:read'), ...follow() },
        description: 'Writes where no write is sent, and does not wait for it.',
        resolve(_root, _args, ctx) {
          void ctx.upstream.write(publish, { id: 'n1' });
          return true;
        },
      }),
      desks: t.field({
        type: [Note],
        nullable: true,
        extensions: follow(),
        description: 'Notes that take no call.',
        resolve: () => ['d1', 'd2'].map((_id) => ({ _id, authorId: `author of ${_id}` })),
      }),
      loading: t.field({
        type: Note,
        nullable: true,
        extensions: follow(),
        description: 'A note that is there before the team that the field loads.',
        resolve(_root, _args, ctx) {
          void ctx.loaders.load(team, 't1');
          return { _id: 'loading', authorId: 'a1' };
        },
      }),
      desk: t.field({
        type: Note,
        nullable: true,
        extensions: follow(),
        description: 'A note that takes no call.',
        resolve: () => ({ _id: 'desk', authorId: 'a1' }),
      }),
    }));

    const creation = mutation('createNotes', {
      description: 'Creates several notes, and publishes the last one.',
      scope: 'notes:write',
      endpoint: create,
      extensions: follow(
        {
          endpoint: create,
          max: ({ input }: { input: { names: string[] } }) => input.names.length,
          reason: 'One per name, until one is refused.',
        },
        { endpoint: publish, reason: 'None if a note is refused.' },
      ),
      input: {
        description: 'They.',
        fields: (t) => ({ names: t.stringList({ required: true }) }),
      },
      async resolve({ names }, send, ctx) {
        let note: NoteBody | undefined;
        for (const name of names) {
          note = await send({ body: { name } });
        }
        await (note && ctx.upstream.write(publish, { id: note._id }));
        return { note };
      },
      success: {
        description: 'They are created.',
        fields: (t) => ({ note: t.expose('note', { type: Note, nullable: true }) }),
      },
    });
    bulkMutation('createAllNotes', creation, bulkOf('lists', 50));
  });

/** Returns two pages of notes, and a record for everything else. */
const respond: Script = ({ method, path, body }) => {
  const id = path.split('/').at(-1) ?? '';
  if (method === 'GET' && path.startsWith('/v1/notes?')) {
    return { body: id.endsWith('=3') ? [] : [{ _id: id, authorId: 'a1' }] };
  }
  if (/^\/v1\/(?:teams|badges)\?/.test(path)) {
    const records = decodeURIComponent(path.split('=')[1] ?? '')
      .split(',')
      .map((_id) => ({ _id }));
    return { body: path.includes('badges') ? { data: records } : records };
  }
  return method === 'PUT' ? { status: 204 } : { body: { _id: body === '' ? id : 'n9', authorId: 'a1' } };
};

async function start(options: { isDeclared: boolean; max?: number }) {
  const undeclared: string[] = [];
  const gateway = await startGateway(
    { service: respond, modules: [notesOf(options)], federation: true },
    { onUndeclaredCall: (problem) => void undeclared.push(problem) },
  );
  return {
    ...gateway,
    undeclared,
    calls: () => undeclared.map((problem) => problem.replace(/^(\S+) calls (\S+ [^\s,]+).*/, '$1 $2')),
  };
}

let declaring: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  declaring = await start({ isDeclared: true });
  return () => declaring[Symbol.asyncDispose]();
});

const bulk = (...lists: string[][]) =>
  `mutation { createAllNotes(input: { lists: [${lists.map((names) => `{ names: ${JSON.stringify(names)} }`)}] }) { succeeded } }`;
const entities = (...ids: string[]) =>
  `{ _entities(representations: [${ids.map((id) => `{ __typename: "Note", id: "${id}" }`)}]) { ... on Note { id } } }`;

it.each<[string, string, explained: string[], undeclared: string[]]>([
  [
    'a read that follows another one in a field of Query',
    '{ note(id: "n1") { id } }',
    ['1 [] GET notes/{id} 1..1 Query.note', '2 [1] GET authors/{id} 0..1 Query.note'],
    ['Query.note GET /v1/authors/{id}'],
  ],
  [
    'reads in a loop',
    '{ notes { id } }',
    ['1 [] GET notes 1..1 Query.notes', '2 [1] GET notes 0..2 Query.notes'],
    ['Query.notes GET /v1/notes'],
  ],
  [
    'a read and a loader in fields of a record',
    '{ note(id: "n1") { author team { id } } }',
    [
      '1 [] GET notes/{id} 1..1 Query.note',
      '2 [1] GET authors/{id} 0..1 Query.note',
      '3 [1,2] GET authors/{id} 0..1 Note.author',
      '4 [1,2] GET teams/{id} 0..1 Note.team',
    ],
    ['Query.note GET /v1/authors/{id}', 'Note.author GET /v1/authors/{id}', 'Note.team GET /v1/teams/{id}'],
  ],
  [
    'a loader that reads several at once, for items of lists',
    '{ notes { team { id } } }',
    [
      '1 [] GET notes 1..1 Query.notes',
      '2 [1] GET notes 0..2 Query.notes',
      '3 [1,2] GET teams 0..49 Note.team',
      '4 [1,2] GET teams/{id} 0..49 Note.team',
    ],
    ['Query.notes GET /v1/notes', 'Note.team GET /v1/teams/{id}'],
  ],
  [
    'a loader that reads only several at once, in pages',
    '{ notes { badge { id } } }',
    ['1 [] GET notes 1..1 Query.notes', '2 [1] GET notes 0..2 Query.notes', '3 [1,2] GET badges 0..49 Note.badge'],
    ['Query.notes GET /v1/notes', 'Note.badge GET /v1/badges'],
  ],
  [
    'a read for each item of a list that a record contains',
    '{ parts { author } }',
    ['1 [] GET notes/{id} 1..1 Query.parts', '2 [1] GET authors/{id} 0..49 Note.author'],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'a read for each item of a list whose length is known',
    '{ named(ids: ["n1", "n2"]) { author } }',
    [
      '1 [] GET notes/{id} 1..1 Query.named',
      '2 [] GET notes/{id} 1..1 Query.named',
      '3 [1,2] GET authors/{id} 0..2 Note.author',
    ],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'a loader with the endpoint of a read that it follows',
    '{ mixed }',
    [
      '1 [] GET teams/{id} 1..1 Query.mixed',
      '2 [1] GET teams 0..1 Query.mixed',
      '3 [1] GET teams/{id} 0..1 Query.mixed',
    ],
    ['Query.mixed GET /v1/teams/{id}'],
  ],
  [
    'a field of a record that takes no call',
    '{ desk { author } }',
    ['1 [] GET authors/{id} 1..1 Note.author'],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'fields of a list that takes no call',
    '{ desks { author } }',
    ['1 [] GET authors/{id} 1..1 Note.author', '2 [] GET authors/{id} 1..1 Note.author'],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'a field of a record that is there before the call',
    '{ loading { author } }',
    ['1 [] GET teams/{id} 1..1 Query.loading', '2 [1] GET authors/{id} 0..1 Note.author'],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'a loader whose maximum is declared, under two names',
    '{ desk { a: linked(id: "x") { id } b: linked(id: "y") { id } } }',
    ['1 [] GET teams 1..1 Note.linked'],
    ['Note.linked GET /v1/teams/{id}'],
  ],
  [
    'a field whose maximum depends on its arguments',
    '{ desk { no: copy(fetch: false) { author } yes: copy(fetch: true) { author } } }',
    [
      '1 [] GET authors/{id} 1..1 Note.author',
      '2 [] GET notes/{id} 1..1 Note.copy',
      '3 [2] GET authors/{id} 0..1 Note.author',
    ],
    ['Note.author GET /v1/authors/{id}', 'Note.copy GET /v1/notes/{id}'],
  ],
  [
    'a list with more items than the service sends',
    '{ headed { author } }',
    ['1 [] GET notes 1..1 Query.headed', '2 [1] GET authors/{id} 0..49 Note.author'],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'a list of lists',
    '{ matrix(pages: [1, 2]) { author } }',
    [
      '1 [] GET notes 1..1 Query.matrix',
      '2 [] GET notes 1..1 Query.matrix',
      '3 [1,2] GET authors/{id} 0..48 Note.author',
    ],
    ['Note.author GET /v1/authors/{id}'],
  ],
  [
    'several writes of a mutation, and a read in its result',
    'mutation { createNotes(input: { names: ["a", "b", "c"] }) { ... on CreateNotesSuccess { note { author } } } }',
    [
      '1 [] POST notes 1..1 Mutation.createNotes',
      '2 [1] POST notes 0..2 Mutation.createNotes',
      '3 [1] PUT notes/{id}/published 0..1 Mutation.createNotes',
      '4 [1,2,3] GET authors/{id} 0..1 Note.author',
    ],
    [
      'Mutation.createNotes POST /v1/notes',
      'Mutation.createNotes PUT /v1/notes/{id}/published',
      'Note.author GET /v1/authors/{id}',
    ],
  ],
  [
    'several writes of items in bulk',
    bulk(['a', 'b'], ['c']),
    [
      '1 [] POST notes 1..1 Mutation.createAllNotes',
      '2 [] POST notes 1..1 Mutation.createAllNotes',
      '3 [1,2] POST notes 0..1 Mutation.createAllNotes',
      '4 [1,2] PUT notes/{id}/published 0..2 Mutation.createAllNotes',
    ],
    ['Mutation.createAllNotes POST /v1/notes', 'Mutation.createAllNotes PUT /v1/notes/{id}/published'],
  ],
  [
    'reads in sequence of entities',
    entities('n1', 'n2'),
    [
      '1 [] GET notes/{id} 1..1 Query._entities',
      '2 [] GET notes/{id} 1..1 Query._entities',
      '3 [1,2] GET authors/{id} 0..2 Query._entities',
    ],
    ['Query._entities GET /v1/authors/{id}'],
  ],
  [
    'nothing else: calls that follow no other one',
    '{ both }',
    [
      '1 [] GET authors/{id} 1..1 Query.both',
      '2 [] GET authors/{id} 1..1 Query.both',
      '3 [] GET teams/{id} 1..1 Query.both',
    ],
    [],
  ],
])('%s', async (_, query, lines, undeclared) => {
  declaring.service.forget();
  declaring.undeclared.length = 0;
  const { body } = await sendExplain(declaring, { query }, { authorization: 'ApiKey a' });
  const explanation = body.extensions?.explain ?? expect.unreachable(JSON.stringify(body));
  expect(linesOf(explanation)).toEqual(lines);
  expect(body.errors).toBeUndefined();
  expect(declaring.service.calls()).toEqual([]);
  await declaring.run(query);
  expect(declaring.undeclared).toEqual([]);
  expect(numbersOf(explanation, declaring.service.calls())).toEqual([]);

  await using other = await start({ isDeclared: false });
  await other.run(query);
  await other.run(query); // Each is reported once.
  expect(other.calls()).toEqual(undeclared);
});

it('a call beyond the declared maximum is reported, with what to change', async () => {
  await using gateway = await start({ isDeclared: true, max: 2 });
  await gateway.run('{ notes { id } }');
  expect(gateway.undeclared).toEqual([
    "Query.notes calls GET /v1/notes more than 2 times, which explanations list only if it is declared. Add the maximum to the extensions of the field, or of the entity's type: declareCalls('…', { endpoint, max: …, reason: '…' }).",
  ]);
});

it('further writes of bulk items count as items, other calls against the budget', async () => {
  const query = bulk(['a', 'b'], ['c', 'd', 'e']);
  const { body } = await sendExplain(declaring, { query }, { authorization: 'ApiKey a' });
  expect(body.extensions?.explain).toMatchObject({
    budget: { min: 0, max: 2, limit: 50 },
    bulkItems: { min: 2, max: 5, limit: 100 },
  });
});

it('a field that fails before its first call is listed without calls', async () => {
  const query = '{ note(id: "..") { author } }';
  const { body } = await sendExplain(declaring, { query }, { authorization: 'ApiKey a' });
  expect(body).toMatchObject({
    errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    extensions: { explain: { calls: [] } },
  });
});

it('calls are reported by field at the same time', async () => {
  await using gateway = await start({ isDeclared: false });
  const { body } = await gateway.send('{ note(id: "n1") { author } }', {}, { extensions: { upstream: true } });
  expect(body.extensions?.upstream).toMatchObject({ calls: 3, fields: { 'Query.note': 2 } });
  expect(gateway.calls()).toHaveLength(2);
});

it('items of a bulk write that are not sent are not listed', async () => {
  await using gateway = await start({ isDeclared: false });
  const query = bulk(['a'], ['b\u0000'], ['c']);
  const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
  expect(body.extensions?.explain?.bulkItems).toEqual({ min: 2, max: 2, limit: 100 });
});

it('items of a bulk write that start after others have ended need no declaration', async () => {
  await using gateway = await start({ isDeclared: false });
  await gateway.run(bulk(...Array.from({ length: 25 }, (_, i) => [String(i)])));
  expect(gateway.calls()).toEqual(['Mutation.createAllNotes PUT /v1/notes/{id}/published']);
});

it('a refused write that nobody waits for is no unhandled rejection, and is not reported', async () => {
  await using gateway = await start({ isDeclared: false });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  expect(await gateway.run('{ careless desk { careless } }')).toEqual({ careless: true, desk: { careless: true } });
  expect([unhandled, gateway.calls(), gateway.service.calls()]).toEqual([[], [], []]);
});

it.each(['resolveType', 'isTypeOf'] as const)(
  'a call in %s costs the field, because explanations do not run it',
  async (name) => {
    const shapes = defineModule('shapes', ({ builder, endpoint, loader, requireScopes }) => {
      const get = endpoint('GET /v1/shapes/{id}').returns<{ _id: string }>();
      const kind = loader<{ _id: string }>({ name: 'kind', get: endpoint('GET /v1/kinds/{id}').returns() });
      const Circle = builder.objectRef<{ _id: string }>('Circle').implement({
        extensions: requireScopes('shapes:read'),
        ...(name === 'isTypeOf' && {
          isTypeOf: async (_shape: unknown, ctx: object) =>
            (await (ctx as GatewayContext).upstream.read(get, { id: 'kind' })) !== null,
        }),
        fields: (t) => ({ id: t.exposeID('_id') }),
      });
      const Shape = builder.unionType('Shape', {
        types: [Circle],
        ...(name === 'resolveType' && {
          resolveType: async (_shape: unknown, ctx: object) =>
            (await (ctx as GatewayContext).loaders.load(kind, 'circle')) && 'Circle',
        }),
      });
      builder.queryField('shape', (t) =>
        t.field({
          type: Shape,
          nullable: true,
          extensions: declareCalls('1'),
          resolve: (_root, _args, ctx) => ctx.upstream.read(get, { id: 's1' }),
        }),
      );
    });
    await using gateway = await startGateway({ service: () => ({ body: { _id: 's1' } }), modules: [shapes] });
    const query = '{ shape { ... on Circle { id } } notificationGroups { name } }';
    const { body } = await gateway.send(query, {}, { authorization: 'ApiKey a' });
    expect(body.errors?.map(({ path }) => path)).toContainEqual(['shape']);
    expect(gateway.service.calls().filter((call) => !call.includes('notification-groups'))).toEqual([
      'GET /v1/shapes/s1',
    ]);
    expect(gateway.log.map(({ err }) => Reflect.get(Object(err), 'message'))).toContainEqual(
      `${name === 'isTypeOf' ? 'isTypeOf of Circle' : 'resolveType of Shape'} makes calls, which explanations don't list; make them in the resolver of the field.`,
    );
  },
);

it.each<[string, unknown]>([
  ['-1', -1],
  ['NaN', Number.NaN],
  ['a text', '2'],
])('a maximum that is %s is refused, with the name of the field or type', (_, max) => {
  const declaring = (field: Record<string, unknown>, type: Record<string, unknown> = {}) =>
    defineModule('limits', ({ builder, requireScopes }) => {
      const Limit = builder.objectRef<object>('Limit').implement({
        extensions: { ...requireScopes('limits:read'), ...type },
        fields: (t) => ({ size: t.int({ nullable: true, resolve: () => 1, extensions: field }) }),
      });
      builder.queryField('limit', (t) => t.field({ type: Limit, resolve: () => ({}) }));
    });
  const calls = declareCalls('1', { endpoint: getWorkflow, max: Object(max).valueOf(), reason: 'One.' });
  const problem = `declares calls with the max ${String(max)}; use a number from 0, or a function`;
  expect(() => createSchema(undefined, [declaring(calls)])).toThrow(
    new ModuleError(`the module limits fails: Limit.size ${problem}`),
  );
  expect(() => createSchema(undefined, [declaring({}, calls)])).toThrow(
    new ModuleError(`the module limits fails: Limit ${problem}`),
  );
});

it('effects that a module has itself are not those of an explanation: undeclared mutations are not run, others can ask', async () => {
  await using bank = await startService(() => ({ body: {} }));
  const pay = (path: string) => fetch(`${bank.url}${path}`, { method: 'POST' });
  const cards = defineModule('cards', ({ builder, bulkMutation, endpoint, mutation, requireScopes }) => {
    const extensions = requireScopes('cards:write');
    builder.mutationFields((t) => ({
      charge: t.boolean({ nullable: true, extensions, resolve: async () => (await pay('/charge')).ok }),
      chargeStrictly: t.boolean({ extensions, resolve: async () => (await pay('/strict')).ok }),
    }));
    const purchase = mutation('buyCard', {
      description: 'Pays for a card, then creates it.',
      scope: 'cards:write',
      endpoint: endpoint('POST /v1/cards').takes<{ body: { name: string } }>().returns<{ _id: string }>(),
      input: { description: 'It.', fields: (t) => ({ name: t.string({ required: true }) }) },
      async resolve(body, send, ctx) {
        await (ctx.isExplained || pay('/bought'));
        return { card: await send({ body }) };
      },
      success: { description: 'Done.', fields: (t) => ({ id: t.id({ resolve: ({ card }) => card._id }) }) },
    });
    bulkMutation('buyCards', purchase, bulkOf('cards', 3));
  });
  const script: Script = ({ path }) => ({ body: path.endsWith('/notification-groups') ? [] : { _id: 'c1' } });
  await using gateway = await startGateway({ service: script, modules: [cards] });
  const buying = 'buyCard(input: { name: "a" }) { __typename } buyCards(input: { cards: [{ name: "b" }] }) { failed }';
  const nullable = `mutation { charge again: charge ${buying} }`;
  const strict = 'mutation { chargeStrictly }';
  const problem = "Mutation.chargeStrictly is not explained. It can't be null, so the fields after it aren't either.";
  const creations = ['1 [] POST cards 1..1 Mutation.buyCard', '2 [1] POST cards 1..1 Mutation.buyCards'];
  for (const [query, notExplained, calls, errors] of [
    [nullable, ['Mutation.charge'], creations, undefined],
    [strict, ['Mutation.chargeStrictly'], [], [problem]],
  ] as const) {
    const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
    const explanation = body.extensions?.explain ?? expect.unreachable(JSON.stringify(body));
    const messages = body.errors?.map(({ message }) => message);
    expect([explanation.notExplained, linesOf(explanation), messages]).toEqual([notExplained, calls, errors]);
  }
  expect([bank.calls(), gateway.service.calls(), gateway.log.filter(({ err }) => err)]).toEqual([[], [], []]);
  await gateway.run(nullable);
  await gateway.run(strict);
  const paid = ['/charge', '/charge', '/bought', '/bought', '/strict'].map((path) => `POST ${path}`);
  expect(bank.calls()).toEqual(paid);
});
