/** Work that is done in the order in which it was asked for, one after the other. Pure. */
export class OneByOne {
  private last: Promise<unknown> = Promise.resolve();

  /** Do it when all that was asked for before is done, whether that failed or not. Work must not ask for more here. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  /** Until all that was asked for so far is done; never fails. */
  async settled(): Promise<void> {
    await this.last;
  }
}
