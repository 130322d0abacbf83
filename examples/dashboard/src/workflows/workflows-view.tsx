// Shows the workflows in pages, those that a search finds, or a single one.

import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { WorkflowDocument } from '../documents.gen.ts';
import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { useRouteParam } from '../shell/routes.ts';
import { useKept } from '../shell/use-kept.ts';
import { View } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Field } from '../ui/field.tsx';
import { summarize } from './workflow.ts';
import { workflowsAddress } from './workflow-address.ts';
import { WorkflowList } from './workflow-list.tsx';
import { WorkflowSection } from './workflow-section.tsx';

export function WorkflowsView() {
  return (
    <View title="Workflows" lead="Find workflows, and enable or disable them.">
      <Permitted scope="workflows:read" what="workflows">
        <Workflows />
      </Permitted>
    </View>
  );
}

function Workflows() {
  const refusal = useRefusal('workflows:write');
  const linked = useRouteParam('id');
  const search = useRouteParam('search') ?? '';
  const page = Math.max(1, Math.trunc(Number(useRouteParam('page'))) || 1);

  return (
    <>
      <ReadOnlyNote refusal={refusal} />
      <SearchWorkflows search={search} />
      {linked === null ? (
        <WorkflowList key={`${page} ${search}`} search={search} page={page} />
      ) : (
        <LinkedWorkflow key={linked} id={linked} />
      )}
    </>
  );
}

/** The form to search workflows. @param search the search whose results are shown */
function SearchWorkflows({ search }: { search: string }) {
  const [text, setText] = useState(search);
  const [shown, setShown] = useState(search);
  if (shown !== search) {
    setShown(search); // The address changed, for example by the button Back.
    setText(search);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    location.hash = workflowsAddress(text.trim());
  }

  return (
    <search>
      <form className="card" onSubmit={submit}>
        <div className="inline-form">
          <Field
            label="Search workflows"
            hint="Part of a name or of a trigger identifier, such as digest."
            type="search"
            value={text}
            autoCapitalize="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" kind="primary">
            Search
          </Button>
        </div>
      </form>
    </search>
  );
}

/** The workflow that the address names, such as one from the statistics. */
function LinkedWorkflow({ id }: { id: string }) {
  const [result, execute] = useQuery({ query: WorkflowDocument, variables: { id } });
  const workflow = useKept(result.data?.workflow);
  const isGone = result.data?.workflow === null && !result.error;

  return (
    <WorkflowSection
      title="Linked workflow"
      result={result}
      workflows={isGone ? [] : workflow && [summarize(workflow)]}
      rows={1}
      onReload={() => execute({ requestPolicy: 'network-only' })}
    >
      {isGone && <Empty title="This workflow does not exist any more." />}
      <a href={workflowsAddress('')}>Show all workflows</a>
    </WorkflowSection>
  );
}
