/** A field of a settled answer that differs from the purchase. */
export interface Difference {
  readonly field: string
  readonly bought: string
  readonly recorded: string
}
