import type { Slot } from '../slot.types.ts';

export interface LogRotationSettings {
  /** containerLogMonitorInterval, ms. */
  periodMs: number;
  /** containerLogMaxSize, bytes: a log that has reached it is rotated. */
  maxSizeBytes: number;
  /** containerLogMaxFiles, the live file included; at least 2. */
  maxFiles: number;
  /** containerLogMaxWorkers: logs that are rotated at a time. */
  maxWorkers: number;
}

export interface LogRotationSlots {
  /**
   * Looks at the log of every running container and rotates those that are too large. One that fails is told in `failed`
   * and harms no other; it rejects only where the runtime does not say what runs.
   */
  rotateLogs: Slot<
    Omit<LogRotationSettings, 'periodMs'>,
    { rotated: string[]; failed: { path: string; message: string }[] }
  >;
}
