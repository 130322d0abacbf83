/** Converts the statistics to the form in the schema: sorted by day, and with references that can be resolved. */
// biome-ignore lint/correctness/noUnusedVariables: Called by Tailcall, by its name in schema.graphql.
function onStatistics(body) {
  const entries = JSON.parse(body).map(({ _id, count, channels, templates }) => ({
    date: _id,
    count,
    channels: channels.map((channel) => channel.toUpperCase()),
    workflows: templates.map((id) => ({ id })),
  }));
  entries.sort((a, b) => (a.date < b.date ? -1 : 1));
  return JSON.stringify(entries);
}
