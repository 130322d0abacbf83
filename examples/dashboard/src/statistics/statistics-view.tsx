// Shows notifications per day, in a period that can be chosen.

import { useState } from 'react';
import { Permitted } from '../session/permitted.tsx';
import { useMay } from '../session/who-context.ts';
import { View } from '../shell/view.tsx';
import { RangeLinks, useRange } from './range.tsx';
import { Statistics } from './statistics.tsx';

export function StatisticsView() {
  const days = useRange();
  const mayRead = useMay('stats:read');
  const [chosenKey, setChosenKey] = useState<string>();
  return (
    <View
      title="Statistics"
      lead={`Notifications sent in the last ${days} days.`}
      actions={mayRead && <RangeLinks days={days} />}
    >
      <Permitted scope="stats:read" what="statistics">
        <Statistics key={days} range={days} chosenKey={chosenKey} onChoose={({ key }) => setChosenKey(key)} />
      </Permitted>
    </View>
  );
}
