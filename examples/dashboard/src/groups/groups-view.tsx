import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { Groups } from './groups.tsx';

/** The groups that workflows belong to. */
export function GroupsView() {
  return (
    <View title="Groups" lead="Groups that workflows belong to.">
      <Permitted scope="groups:read" what="groups">
        <Groups />
      </Permitted>
    </View>
  );
}
