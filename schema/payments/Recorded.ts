/** How the record of an act repeats its request, as a buyer compares the two. */

/** The value of a recorded member that the altar chooses, where the request leaves it out. */
export const chosen = "*"

/** How a record repeats its request. */
export interface Recorded {
  /** The path of the request, with the record's names: `/api/prayers/:spirit`. */
  readonly path: string
  /** Members that the request decides, with their values where it omits them; those that both have when absent. */
  readonly members?: Readonly<Record<string, string | null>>
  /** The folder of its permalink. */
  readonly page: string
}
