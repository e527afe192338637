/**
 * What is far from view is not made: a long conversation costs what is seen of it. Until a part comes near, its plain
 * text stands in its place, so that it can be searched, selected and read aloud all the same.
 */

import { createContext, type RefObject } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";

/** How far away is near, in every box that scrolls. */
const MARGIN = "1200px";
/** Milliseconds of a frame in which parts are made at once, wherever they are: what is small comes complete. */
const AT_ONCE_MS = 3;

class Watcher {
  private readonly waiting = new Map<Element, () => void>();
  private readonly observer = new IntersectionObserver((seen) => this.see(seen), {
    rootMargin: MARGIN,
    // Not in TypeScript's library yet: the margin of boxes inside the page.
    ...{ scrollMargin: MARGIN },
  });
  private until = 0;

  /** Whether something may be made at once: the time of this frame is not used up. */
  hasTime(): boolean {
    const now = performance.now();
    if (this.until === 0) {
      this.until = now + AT_ONCE_MS;
      requestAnimationFrame(() => {
        this.until = 0;
      });
    }
    return now < this.until;
  }

  watch(element: Element, seen: () => void): () => void {
    this.waiting.set(element, seen);
    this.observer.observe(element);
    return () => this.forget(element);
  }

  private see(seen: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      const tell = this.waiting.get(target);
      this.forget(target);
      tell?.();
    }
  }

  private forget(element: Element): void {
    this.waiting.delete(element);
    this.observer.unobserve(element);
  }
}

const watcher = new Watcher();

/** Whether the box around is near: in one that is far nobody needs to watch each part. */
export const NearBox = createContext(true);

/** Whether the element is, or ever was, near the view. */
export function useNear<Box extends Element>(): readonly [box: RefObject<Box>, near: boolean] {
  const box = useRef<Box>(null);
  const within = useContext(NearBox);
  const [near, setNear] = useState(() => within && watcher.hasTime());
  useLayoutEffect(() => {
    if (near || !within || box.current === null) return undefined;
    return watcher.watch(box.current, () => setNear(true));
  }, [near, within]);
  return [box, near];
}
