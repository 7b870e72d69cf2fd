/** The artwork is fetched anew and hashed here, against the hash its manifest was published with. */
import { sha256 } from "../../../buyer/core/Digest.ts"
import { all, failure, make, one, verdict } from "../page/dom.ts"
import { canHash, cannotHash } from "../page/hashing.ts"
import { unreachable } from "../page/http.ts"

const check = async ({ artwork, bytes, sha256: published }: DOMStringMap): Promise<HTMLElement> => {
  const response = await fetch(artwork ?? "", { cache: "no-store" })
  if (!response.ok) return verdict("broken", "Not checked.", `The artwork answered ${response.status}.`)
  const content = await response.arrayBuffer()
  const computed = await sha256(content)
  return computed === published
    ? verdict("holds", "Same hash.", `${content.byteLength.toLocaleString("en-US")} bytes were hashed in this browser.`)
    : verdict(
        "broken",
        "Another hash.",
        `${content.byteLength} bytes instead of ${bytes ?? ""} hash to `,
        make("code", { class: "long" }, computed),
      )
}

export const start = () => {
  for (const place of all("[data-artwork]", HTMLElement)) {
    const result = one("[data-result]", HTMLElement, place)
    const run = () => {
      if (!canHash()) return result.replaceChildren(verdict("broken", "Cannot hash here.", cannotHash))
      result.replaceChildren(verdict("waits", "Hashing."))
      void check(place.dataset).then(
        (findings) => result.replaceChildren(findings),
        () => result.replaceChildren(...failure("Not checked.", unreachable(), run)),
      )
    }
    one("button", HTMLButtonElement, place).addEventListener("click", run)
  }
}
