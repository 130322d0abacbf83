import { type FormEvent, useRef, useState } from 'react';
import { useClient } from 'urql';
import { WorkflowsDocument } from '../documents.gen.ts';
import { explainError } from '../failures/explain-error.ts';
import type { Failure } from '../failures/failure.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import type { Workflow } from './workflow.ts';

interface FindWorkflowProps {
  /** Shows a workflow that was found by a text. */
  onFound: (text: string, workflow: Workflow) => void;
}

/** The form to look up a workflow that sent nothing lately, such as one that is off. */
export function FindWorkflow({ onFound }: FindWorkflowProps) {
  const client = useClient();
  const [text, setText] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const input = useRef<HTMLInputElement>(null);

  async function find() {
    const wanted = text.trim();
    setFailure(undefined);
    setProblem(wanted === '' ? 'Enter an id or an identifier.' : undefined);
    if (wanted !== '') {
      setIsBusy(true);
      const variables = { ids: [wanted] };
      const { data, error } = await client.query(WorkflowsDocument, variables, { requestPolicy: 'network-only' });
      setIsBusy(false);
      const found = data?.workflows?.[0];
      if (found) {
        onFound(wanted, found);
        setText('');
      } else if (error) {
        setFailure(explainError(error, 'read'));
      } else {
        setProblem(`No workflow has the id or identifier “${wanted}”.`);
      }
    }
    input.current?.focus();
  }

  return (
    <form
      className="card"
      noValidate
      aria-label="Find a workflow"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        find();
      }}
    >
      {failure && <FailureNote failure={failure} onRetry={find} />}
      <div className="inline-form">
        <Field
          ref={input}
          label="Find any workflow"
          hint="Its id or its trigger identifier, such as weekly-digest."
          value={text}
          error={problem}
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" kind="primary" isBusy={isBusy}>
          Find
        </Button>
      </div>
    </form>
  );
}
