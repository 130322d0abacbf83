import type { StepTemplateBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TemplateVariable = builder
  .objectRef<NonNullable<StepTemplateBody['variables']>[number]>('TemplateVariable')
  .implement({
    description: 'A placeholder in the content of a step.',
    fields: (t) => ({
      id: t.id({
        nullable: true,
        description: "The placeholder's id, or null if the service sent none.",
        resolve: ({ _id, id }) => _id ?? id,
      }),
      name: t.exposeString('name', { description: 'The name, as written between the braces: `name` for `{{name}}`.' }),
      type: t.exposeString('type', { nullable: true, description: 'The type of the value, such as `String`.' }),
      required: t.exposeBoolean('required', { nullable: true, description: 'Whether a trigger must send a value.' }),
    }),
  });

export const StepTemplate = builder.objectRef<StepTemplateBody>('StepTemplate').implement({
  description: 'The content of the message that a step sends.',
  fields: (t) => ({
    id: t.id({
      nullable: true,
      description: "The template's id, or null if the service sent none.",
      resolve: ({ _id, id }) => _id ?? id,
    }),
    type: t.exposeString('type', {
      nullable: true,
      description: 'The channel or kind of the step, such as `email`, `in_app` or `digest`.',
    }),
    active: t.exposeBoolean('active', { nullable: true, description: 'Whether the template is active.' }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: 'The subject of an email. Null for other channels.',
    }),
    variables: t.field({
      type: [TemplateVariable],
      description: 'The placeholders in the content.',
      resolve: ({ variables }) => variables ?? [],
    }),
    content: t.string({
      nullable: true,
      description: 'The text with placeholders such as `{{name}}`. Null if the content is in `contentBlocks`.',
      resolve: ({ content }) => (typeof content === 'string' ? content : null),
    }),
    contentBlocks: t.field({
      type: ['JSONObject'],
      nullable: true,
      description: 'The blocks of an email made with the visual editor. Null if the content is in `content`.',
      resolve: ({ content }) => (Array.isArray(content) ? content : null),
    }),
    contentType: t.exposeString('contentType', {
      nullable: true,
      description: 'The format of an email, such as `editor`.',
    }),
    feedId: t.exposeID('_feedId', {
      nullable: true,
      description: 'The id of the feed that shows an in-app message. Null if none.',
    }),
    layoutId: t.exposeID('_layoutId', {
      nullable: true,
      description: 'The id of the layout of an email. Null if none.',
    }),
    creatorId: t.exposeID('_creatorId', {
      nullable: true,
      description: 'The id of the user who created the template.',
    }),
    organizationId: t.exposeID('_organizationId', {
      nullable: true,
      description: 'The id of the organization that owns the template.',
    }),
    environmentId: t.exposeID('_environmentId', {
      nullable: true,
      description: 'The id of the environment that the template belongs to.',
    }),
    deleted: t.exposeBoolean('deleted', { nullable: true, description: 'Whether the template is deleted.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time when the template was created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time when the template was last changed.',
    }),
    revision: t.exposeInt('__v', { nullable: true, description: 'The revision number that the service assigned.' }),
  }),
});
