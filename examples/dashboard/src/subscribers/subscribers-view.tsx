import { useMay } from '../session/session-context.ts';
import { View } from '../shell/view.tsx';
import { Note } from '../ui/note.tsx';
import { AddSubscriber } from './add-subscriber.tsx';

/** The view to add subscribers; the service can't list them. */
export function SubscribersView() {
  return (
    <View title="Subscribers" lead="Add a recipient of notifications. An existing id is updated.">
      {useMay('subscribers:write') ? (
        <AddSubscriber />
      ) : (
        <Note kind="info" title="Your account cannot add subscribers.">
          <p>
            This requires <code>subscribers:write</code>.
          </p>
        </Note>
      )}
    </View>
  );
}
