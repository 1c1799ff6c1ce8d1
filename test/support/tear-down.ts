/** Takes every step of a tear-down, also after one that failed, so that nothing outlives the tests; then tells of the failures. */
export async function tearDown(...steps: (() => Promise<unknown> | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new Error(`the tear-down failed: ${failures.map(String).join('; ')}`);
}
