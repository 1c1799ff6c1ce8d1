/**
 * Longest wait for the status of one sandbox or container, ms. Far below runtimeRequestTimeout: one that hangs is that
 * pod's trouble alone, and its pod is looked at again.
 */
export const LOOK_DEADLINE_MS = 10_000;

/**
 * Longest pull, ms. CRI tells nothing of a pull's progress; it is the runtime that ends one that stands still
 * (containerd: image_pull_progress_timeout). This ends the wait for a runtime that does not.
 */
export const PULL_DEADLINE_MS = 3_600_000;

/** How much longer than a command's own time the wait for it is, ms: the runtime kills it and answers. */
export const EXEC_MARGIN_MS = 2_000;
