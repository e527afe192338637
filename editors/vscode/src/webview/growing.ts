/** Much at once is drawn in steps, one per frame, so that the page never stands still. */

import { useEffect, useState } from "preact/hooks";

/** How many of `total` to draw now: `step` more with each frame, until all are. */
export function useGrowing(total: number, step: number): number {
  const [limit, setLimit] = useState(step);
  useEffect(() => {
    if (limit >= total) return;
    const frame = requestAnimationFrame(() => setLimit(limit + step));
    return () => cancelAnimationFrame(frame);
  }, [limit, total, step]);
  return limit;
}
