// The one shape of an item's description in all three catalogs.

/** A collectible as the field guide describes it; counts of issued editions are elsewhere. */
export interface ItemEntry {
  /** Matches `^[a-z0-9-]+$`; unique across all three catalogs, because they share one collect route. */
  readonly id: string
  readonly name: string
  readonly color: `#${string}`
  readonly description: string
  readonly altarLine: string
}
