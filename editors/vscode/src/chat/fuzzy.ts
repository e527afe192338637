/** Which paths a few letters may mean. Pure. */

const BOUNDARY = /[/\\._\- ]/;

/** Higher is better; undefined: the letters are not in the path in that order. Case does not count. */
export function fuzzyScore(path: string, query: string): number | undefined {
  const name = path.lastIndexOf("/") + 1;
  const exact = path.toLowerCase().indexOf(query.toLowerCase(), query.includes("/") ? 0 : name);
  if (exact >= 0) return 1_000 - path.length + (exact === name ? 500 : 0);
  let score = 0;
  let at = -1;
  for (const letter of query.toLowerCase()) {
    const next = path.toLowerCase().indexOf(letter, at + 1);
    if (next < 0) return undefined;
    score += next === at + 1 ? 5 : next === 0 || BOUNDARY.test(path[next - 1] ?? "") ? 3 : 0;
    if (next >= name) score += 1;
    at = next;
  }
  return score - path.length / 100;
}

/** The best first; of equals the shorter, then the earlier in the alphabet. */
export function fuzzyFind(paths: readonly string[], query: string, most: number): readonly string[] {
  return paths
    .flatMap((path) => {
      const score = fuzzyScore(path, query);
      return score === undefined ? [] : [{ path, score }];
    })
    .sort((a, b) => b.score - a.score || a.path.length - b.path.length || a.path.localeCompare(b.path))
    .slice(0, most)
    .map((one) => one.path);
}
