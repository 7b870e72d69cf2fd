/** The lasting result of a purchase: the act, as its own page shows it, and the words that its owner keeps. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { copyFrom } from "../page/copy.ts"
import { button, doors, longCode, make } from "../page/dom.ts"
import { keepsake } from "../words/keepsake.ts"
import type { Result } from "./checkout.ts"

const text = (value: unknown) => (typeof value === "string" ? value : "")

/** Shows the picture of an act's own page, and its line below the name; nothing where the page does not come. */
const showAct = async (path: string, picture: Element, name: Element) => {
  const answer = await fetch(path, { headers: { accept: "text/html" } }).catch(() => undefined)
  if (answer?.ok !== true) return
  const page = new DOMParser().parseFromString(await answer.text(), "text/html")
  // The light of candles is defined once on a page, beside its list of candles.
  page.querySelector(".folio__plate .lightbox")?.remove()
  picture.append(page.querySelector(".folio__plate > *") ?? "")
  const line = page.querySelector(".text__epithet") ?? page.querySelector(".text h1")
  name.after(make("p", { class: "text__epithet" }, line?.textContent ?? ""))
}

/** Its settlement was announced before. `mayRepeat` where the page's form sells the act again. */
export const receipt = (
  { body, purchase }: Extract<Result, { tag: "settled" }>,
  mayRepeat: boolean,
): ReadonlyArray<HTMLElement> => {
  const { record } = body
  const number = memberAt(record, "sequence")
  const line = text(body["line"])
  // Only the path is taken from the answer, so that the link leads to this site.
  const path = URL.parse(text(body["permalink"]))?.pathname ?? "/v2/"
  const address = make("p", { class: "share" }, make("code", {}, location.origin + path))
  const copy: HTMLButtonElement = button("Copy link", () => void copyFrom(copy, address))
  const picture = make("div", { class: "bought" })
  const name = make(
    "p",
    { class: "bought__name" },
    make("b", {}, typeof number === "number" ? `Stone ${number}` : purchase.title),
  )
  void showAct(path, picture, name)
  return [
    ...(line === ""
      ? []
      : [make("p", { class: "quiet" }, "The answer:"), make("blockquote", { class: "words" }, make("p", {}, line))]),
    picture,
    name,
    doors(
      make(
        "a",
        { class: "button button--main", href: path },
        path.startsWith("/witness/") ? "See your stone" : "See your act",
      ),
      copy,
      ...(mayRepeat ? [make("a", { class: "button", href: `${location.pathname}${location.search}` }, "Another")] : []),
    ),
    address,
    ...(purchase.sealed === undefined
      ? []
      : [
          keepsake(
            purchase.sealed,
            `${typeof number === "number" ? `stone-${number}` : text(memberAt(record, "id"))}.words`,
          ),
        ]),
    ...(purchase.sealed === undefined && memberAt(record, "commitment") !== undefined
      ? [make("p", {}, make("b", {}, "Keep the file unchanged."), " It is the proof of this stone.")]
      : []),
    make("p", { class: "small quiet" }, "Transaction ", longCode(text(memberAt(body["receipt"], "transaction")))),
  ]
}
