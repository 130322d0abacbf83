import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { AddSubscriber } from './add-subscriber.tsx';

/** The view to add subscribers; the service can't list them. */
export function SubscribersView() {
  return (
    <View title="Subscribers" lead="Add a recipient of notifications. An existing id is updated.">
      <Permitted scope="subscribers:write" verb="add" what="subscribers">
        <AddSubscriber />
      </Permitted>
    </View>
  );
}
