/** Reasons why data decides the number of calls of the loader, in one sentence each. */
export const GROUP_LOAD_REASONS = {
  list: 'None if the service embeds the groups in the workflows, or a single one is needed.',
  byId: 'None if the service embeds the groups, or lists all with their ids.',
  afterList: 'None unless the list contains groups without ids.',
};

/** Maximum numbers of calls. */
export interface GroupLoadCalls {
  list: 0 | 1;
  byId: number;
}

/**
 * Follows the rules of the loader of notification groups for loads that data decides: whether they happen, and for which ids. The first id of an
 * operation takes a get, further ones a list, and each id another get if the list contains groups without ids.
 */
export class GroupLoadBounds {
  #mayHaveLoadedOne = false;
  #mayBeListed = false;

  /** Notes a get of the loader. */
  loadedOne(): void {
    this.#mayHaveLoadedOne = true;
  }

  /** Notes a list call of the loader. */
  listed(): void {
    this.#mayBeListed = true;
  }

  /** Notes that a write made the loader forget its list. */
  cleared(): void {
    this.#mayBeListed = false;
  }

  /** Returns the maximum number of calls for up to `count` more ids. */
  load(count: number): GroupLoadCalls {
    const needsList = !this.#mayBeListed && (count > 1 || (count === 1 && this.#mayHaveLoadedOne));
    if (needsList) {
      this.listed(); // Once until it is cleared, whichever of these loads needs it.
    }
    if (count > 0) {
      this.loadedOne();
    }
    return { list: needsList ? 1 : 0, byId: count };
  }
}
