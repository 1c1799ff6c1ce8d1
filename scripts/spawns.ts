import { existsSync } from 'node:fs';
import type { Chart, State } from '../services/charts/chart.types.ts';

const root = new URL('../', import.meta.url);
/** Folders of machines/, in the order of the index. */
const FOLDERS = ['syncloop', 'pod', 'node'];

/** Folder in which the machine of that name is kept. */
export const folderOf = (name: string) =>
  FOLDERS.find((folder) => existsSync(new URL(`machines/${folder}/${name}.machine.ts`, root))) ?? '';

/** Who spawns whom, as a chart of its own: machines in the folders they are kept in. */
export function familyOf(charts: Chart[]): Chart {
  const place = new Map(charts.map(({ name }) => [name, `${folderOf(name)}/.${name}`]));
  const state = (path: string, description: string): State => ({
    path,
    kind: 'atomic',
    description,
    tags: [],
    invokes: [],
    entry: [],
    exit: [],
  });
  return {
    name: 'spawns',
    machine: 'spawns',
    description: 'Who spawns whom.',
    states: [
      state('', ''),
      ...FOLDERS.map((folder) => state(`${folder}/`, `machines/${folder}`)),
      ...charts.map((c) => state(place.get(c.name) ?? '', c.description)),
    ],
    edges: charts.flatMap((c) =>
      c.children.map((child) => ({
        from: place.get(c.name) ?? '',
        to: place.get(child),
        kind: 'always' as const,
        what: '',
        event: '',
        actions: [],
        reenters: false,
        internal: false,
      })),
    ),
    children: [],
    watches: [],
    delays: {},
  };
}
