/** More seeds by `npm run soak`; a failing one reproduces to the step. */
const FIRST = Number(process.env.STATELET_FIRST_SEED ?? 1);

/**
 * Runs a scenario with one seed after the other, as many as `STATELET_SEEDS` says.
 *
 * @param soak options of `npm run soak` that run the same
 * @returns lives, and calls of the runtime in all of them
 * @throws Error with the command that repeats it, at the first seed whose life broke an invariant
 */
export async function manyLives(
  run: (seed: number) => Promise<{ calls: number; problems: string[] }>,
  usual: number,
  soak = '',
): Promise<{ lives: number; calls: number }> {
  const lives = Number(process.env.STATELET_SEEDS ?? usual);
  let calls = 0;
  for (let seed = FIRST; seed < FIRST + lives; seed++) {
    const verdict = await run(seed);
    calls += verdict.calls;
    if (verdict.problems.length)
      throw new Error(`npm run soak --${soak} --first ${seed} --count 1:\n${verdict.problems.slice(0, 10).join('\n')}`);
  }
  return { lives, calls };
}
