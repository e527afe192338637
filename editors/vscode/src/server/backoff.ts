/** When a crashed server is started again. Pure. */

/** Crashes further back do not count: it ran well in between. */
export const FORGET_MS = 180_000;
/** After so many in a row a person has to look. */
export const LIMIT = 5;

/** Milliseconds to wait before the next start, or null: do not. `crashes` are times in milliseconds, oldest first. */
export function restartDelay(crashes: readonly number[], now: number): number | null {
  const recent = crashes.filter((at) => now - at < FORGET_MS).length;
  return recent >= LIMIT ? null : 500 * 2 ** Math.max(0, recent - 1);
}
