/** Bodies that were held against the document: equal bytes of one operation, status and type get one verdict. */
import { hash } from "node:crypto"

/** Names of bodies that are remembered; beyond them all are judged anew. */
const most = 200_000

export class Judged {
  readonly #names = new Set<string>()
  #count = 0

  /** Bodies judged so far. */
  get count(): number {
    return this.#count
  }

  /** Whether the body of this answer has not been judged; from now on it has. */
  isNew(answer: string, bytes: Uint8Array): boolean {
    const name = `${answer} ${hash("sha256", bytes, "base64url")}`
    if (this.#names.has(name)) return false
    if (this.#names.size >= most) this.#names.clear()
    this.#names.add(name)
    this.#count += 1
    return true
  }
}
