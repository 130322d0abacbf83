import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { workflowsAddress } from './workflow-address.ts';

/** The form to search workflows. @param search the search whose results are shown */
export function SearchWorkflows({ search }: { search: string }) {
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
