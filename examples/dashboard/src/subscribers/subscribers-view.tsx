import { useMay } from '../session/session-context.ts';
import { View } from '../shell/view.tsx';
import { Note } from '../ui/note.tsx';
import { AddSubscriber } from './add-subscriber.tsx';

/** Adding a subscriber: the service has no list of them. */
export function SubscribersView() {
  return (
    <View title="Subscribers" lead="Add somebody who gets notifications. An id that exists is updated.">
      {useMay('subscribers:write') ? (
        <AddSubscriber />
      ) : (
        <Note kind="info" title="This account may not add subscribers.">
          <p>
            This needs the permission <code>subscribers:write</code>.
          </p>
        </Note>
      )}
    </View>
  );
}
