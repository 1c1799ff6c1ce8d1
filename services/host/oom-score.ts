import { writeFile } from 'node:fs/promises';
import { hostError } from './effect.ts';

const SCORE = '/proc/self/oom_score_adj';

/**
 * How readily the kernel ends this process where memory is short, -1000 to 1000 (cmd/kubelet/app/server.go: oomAdjuster).
 * One that may not be set, as without CAP_SYS_RESOURCE, is told and keeps nothing from starting, as in the kubelet.
 */
export async function applyOomScoreAdj(score: number, tell: (message: string) => void, file = SCORE): Promise<void> {
  try {
    await writeFile(file, String(score));
  } catch (error) {
    tell(`oomScoreAdj: ${score} could not be set for the agent itself: ${hostError(error, 'set oom score').message}`);
  }
}
