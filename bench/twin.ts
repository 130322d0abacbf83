// Adds a twin of the field `workflow`, to show that a module's field does as much work as a built-in one.

import type { GatewayModule } from '../src/modules/index.ts';
import { RESPONSES } from '../src/upstream/contract/responses.gen.ts';
import type { StepBody, StepTemplateBody, WorkflowBody } from '../src/upstream/endpoints.ts';

// No import of `defineModule`, because the gateway's process would load a second copy of the program.

/** The twin has what Q1 selects. */
const twin: GatewayModule = {
  name: 'twin',
  define({ builder, declareCalls, endpoint, loader, requireScopes }) {
    const getTwin = endpoint('GET /v1/twins/{id}', {
      response: RESPONSES['GET /v1/workflows/{workflowIdOrIdentifier}'],
    }).returns<WorkflowBody>();
    const twins = loader<WorkflowBody>({ name: 'twin', get: getTwin, identify: (row, id) => ({ _id: id, ...row }) });

    const TwinTemplate = builder.objectRef<StepTemplateBody>('TwinTemplate').implement({
      description: 'The content of a step.',
      fields: (t) => ({
        type: t.exposeString('type', { nullable: true, description: 'The channel.' }),
        content: t.string({
          nullable: true,
          description: 'The text.',
          resolve: ({ content }) => (typeof content === 'string' ? content : null),
        }),
        subject: t.exposeString('subject', { nullable: true, description: 'The subject.' }),
      }),
    });
    const TwinStep = builder.objectRef<StepBody>('TwinStep').implement({
      description: 'A step.',
      fields: (t) => ({
        name: t.exposeString('name', { nullable: true, description: 'The name.' }),
        active: t.exposeBoolean('active', { nullable: true, description: 'Whether it runs.' }),
        template: t.expose('template', { type: TwinTemplate, nullable: true, description: 'The content.' }),
      }),
    });
    const Twin = builder.objectRef<WorkflowBody>('Twin').implement({
      description: 'A workflow.',
      extensions: requireScopes('twins:read'),
      fields: (t) => ({
        name: t.exposeString('name', { description: 'The name.' }),
        active: t.exposeBoolean('active', { description: 'Whether it runs.' }),
        tags: t.stringList({ description: 'The labels.', resolve: ({ tags }) => tags ?? [] }),
        steps: t.field({ type: [TwinStep], description: 'The steps.', resolve: ({ steps }) => steps ?? [] }),
      }),
    });
    builder.queryField('twin', (t) =>
      t.field({
        type: Twin,
        nullable: true,
        extensions: declareCalls('1'),
        description: 'Returns a workflow.',
        args: { id: t.arg.id({ required: true, description: "The workflow's id." }) },
        resolve: (_root, { id }, ctx) => ctx.loaders.load(twins, id),
      }),
    );
  },
};

export default twin;
