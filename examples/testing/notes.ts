// Adds the notes of people, one per person.

import { defineModule } from 'notigraph/modules';

interface NoteBody {
  text: string;
}

export default defineModule('notes', (toolkit) => {
  const { builder, bulkMutation, declareCalls, endpoint, mutation, nullIfAbsent, requireScopes } = toolkit;
  const { SUBJECT, subjectOf } = toolkit;

  const readNote = endpoint('GET /v1/people/{personId}/note').returns<NoteBody>();
  const writeNote = endpoint('PUT /v1/people/{personId}/note', { expect: 'nothing', repeatable: true }).takes<{
    body: NoteBody;
  }>();

  builder.queryField('note', (t) =>
    t.string({
      nullable: true,
      extensions: { ...requireScopes('notes:read'), ...declareCalls('1') },
      description: 'Returns the note of a person, or null.\n\nREST: `GET /v1/people/{personId}/note`.',
      args: { personId: t.arg.id({ description: SUBJECT }) },
      async resolve(_root, args, ctx) {
        const personId = subjectOf(ctx, args.personId, 'personId');
        const read = ctx.upstream.read(readNote, { personId });
        return (await nullIfAbsent(read, { resource: 'Person', id: personId }))?.text;
      },
    }),
  );

  const writing = mutation('writeNote', {
    description: 'Writes the note of a person.',
    scope: 'notes:write',
    subject: 'personId',
    endpoint: writeNote,
    input: {
      description: 'The note to write.',
      fields: (t) => ({ text: t.string({ required: true, description: 'The text.' }) }),
    },
    failures: { notFound: { resource: 'Person', id: ({ personId }) => personId } },
    resolve: async ({ personId, text }, send) => {
      await send({ personId, body: { text } });
      return { personId };
    },
    success: {
      description: 'The note was written.',
      fields: (t) => ({ personId: t.exposeID('personId', { description: 'The id of the person.' }) }),
    },
  });

  bulkMutation('writeNotes', writing, {
    description: 'Writes up to 20 notes.',
    items: 'notes',
    max: 20,
    input: { description: 'The notes to write.', items: 'The notes.' },
    result: { item: 'One result.', results: 'The results.', succeeded: 'The written.', failed: 'The others.' },
  });
});
