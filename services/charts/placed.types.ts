/** A chart with a place for everything: what layout.ts makes and svg.ts draws. Pixels, from the picture's upper left corner. */
export interface PlacedChart {
  name: string;
  /** chartKey of the chart that it shows. */
  key: string;
  width: number;
  height: number;
  /** Parents before their children. */
  boxes: Box[];
  dots: Dot[];
  lines: Line[];
}

export interface Point {
  x: number;
  y: number;
}

export interface Rect extends Point {
  width: number;
  height: number;
}

/** A state. */
export interface Box extends Rect {
  path: string;
  title: string;
  /** Shown as a tooltip. */
  description: string;
  /** Runs an effect; waits for an event or a timer; is over; goes on as soon as a guard holds; has states inside. */
  role: 'effect' | 'wait' | 'final' | 'choice' | 'parent';
  /** What is written small below the title. */
  notes: Note[];
}

export interface Note {
  kind: 'runs' | 'entry' | 'exit';
  text: string;
}

/** Where a state with states inside begins, or where the edges begin that are taken in whichever of them. */
export interface Dot extends Rect {
  kind: 'initial' | 'any';
  /** Path of the state it is in; empty for the machine itself. */
  within: string;
}

/** All edges from one state to another. */
export interface Line {
  /** Empty for the machine itself. */
  from: string;
  to: string;
  /** Leads from an initial dot: no edge of the chart. */
  isInitial: boolean;
  points: Point[];
  label?: Label;
}

export interface Label extends Rect {
  rows: LabelRow[];
}

/** One row of a label's text. */
export interface LabelRow {
  parts: LabelPart[];
  /** Places in the chart's edges that it stands for. */
  edges: number[];
}

export interface LabelPart {
  kind: 'event' | 'guard';
  text: string;
}
