import { useRefusal, View } from '../shell/view.tsx';
import { Note } from '../ui/note.tsx';
import { AddSubscriber } from './add-subscriber.tsx';

/** Adding a subscriber: the service has no list of them. */
export function SubscribersView() {
  const refusal = useRefusal('subscribers:write');
  return (
    <View title="Subscribers" lead="Adds somebody who gets notifications. An id that exists is updated.">
      {refusal === undefined ? (
        <AddSubscriber />
      ) : (
        <Note kind="info">
          <p>{refusal}</p>
        </Note>
      )}
    </View>
  );
}
