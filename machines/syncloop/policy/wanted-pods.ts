import type { StatusWriterEvent, WantedPod } from '../status-writer.types.ts';

type News = Extract<StatusWriterEvent, { type: 'pod.wanted' | 'pod.forgotten' }>;

/** What the agent has of its pods, by UID in the order in which they came, after one more word of it. */
export function afterNews(wanted: Readonly<Record<string, WantedPod>>, event: News): Record<string, WantedPod> {
  if (event.type === 'pod.wanted') {
    const { type: _type, uid, ...newest } = event;
    return { ...wanted, [uid]: newest };
  }
  const { [event.uid]: _forgotten, ...others } = wanted;
  return others;
}
