/** The field guide's text about a spirit. All of it is public and shown as written. */
export interface SpiritText {
  readonly name: string
  /** The real animal the spirit is drawn from. */
  readonly kin: string
  /** At most 60 characters, so that it fits under a picture. */
  readonly epithet: string
  readonly habitat: string
  readonly habit: string
  readonly description: string
  readonly altarLine: string
  /** Twelve answers, 20 to 90 characters each. None promises anything, because the prayer is sealed. */
  readonly lines: ReadonlyArray<string>
}
