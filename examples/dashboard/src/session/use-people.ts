import { useEffect, useState } from 'react';
import { fetchPeople, type Person } from './issuer.ts';

/** Returns the people who can sign in, or undefined until they are loaded. */
export function usePeople() {
  const [people, setPeople] = useState<Person[]>();
  const [hasFailed, setHasFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    let isWanted = true;
    setHasFailed(false);
    fetchPeople().then(
      (found) => isWanted && setPeople(found),
      () => isWanted && setHasFailed(true),
    );
    return () => {
      isWanted = false;
    };
  }, [attempt]);

  return { people, hasFailed, reload: () => setAttempt(attempt + 1) };
}
