// Materials, crabs and pixels are described in one shape, so that the three catalogs can be read by one reader.

/** A collectible as the field guide describes it; what has been issued is counted elsewhere. */
export interface ItemEntry {
  /** Matches `^[a-z0-9-]+$` and is unique across all three catalogs, because they share one collect route. */
  readonly id: string
  readonly name: string
  readonly color: `#${string}`
  readonly description: string
  readonly altarLine: string
}
