/** Lets `slow KEY` wait for `release KEY`, whichever of the two comes first. */
export class Gates {
  #gates = new Map();

  /** @param {string} key */
  release(key) {
    this.#gate(key).open();
  }

  /**
   * Waits for the release of a key, and uses it up.
   *
   * @param {string} key
   * @param {AbortSignal} signal ends the wait without a release
   */
  async passed(key, signal) {
    await Promise.race([this.#gate(key).opened, aborted(signal)]);
    this.#gates.delete(key);
  }

  #gate(key) {
    if (!this.#gates.has(key)) {
      let open;
      const opened = new Promise((resolve) => {
        open = resolve;
      });
      this.#gates.set(key, { open, opened });
    }
    return this.#gates.get(key);
  }
}

/** Settles when a signal is aborted. @param {AbortSignal} signal */
export function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
