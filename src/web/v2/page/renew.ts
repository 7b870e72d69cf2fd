/** Renews the page from the altar's current version and leaves unchanged parts untouched. */
import { all, renewed } from "./dom.ts"

/** Attributes that the reader or a script controls. */
const kept = new Set(["open", "disabled"])

/** Elements whose content arose on this page and is unknown to the altar. */
const own =
  "form, .share, [role=status], [aria-live], [data-verdict], [data-reveal-verdict], [data-verify-list], [data-box-count]"

const isChanged = (field: Element): boolean => {
  if (field instanceof HTMLInputElement)
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue
  return (
    field instanceof HTMLSelectElement && field.selectedIndex > 0 && field.selectedOptions[0]?.defaultSelected === false
  )
}

const isUsed = (form: HTMLFormElement) =>
  form.querySelector("[data-progress] > *, [data-result] > *, [data-submit][aria-disabled]") !== null ||
  [...form.elements].some(isChanged)

/** Whether the reader's focus or an unfinished entry is inside: such a node stays in place. */
const isHeld = (node: Node): boolean =>
  node instanceof Element &&
  (node.contains(document.activeElement) ||
    (node instanceof HTMLFormElement ? isUsed(node) : all("form", HTMLFormElement, node).some(isUsed)))

/** The identity of a list's entry. */
const keyOf = (element: Element) =>
  element.id ||
  (element.matches("li") ? element.querySelector("a")?.getAttribute("href") : element.getAttribute("data-path"))

const fits = (old: Node, fresh: Node): boolean => {
  if (old.nodeName !== fresh.nodeName) return false
  if (!(old instanceof Element && fresh instanceof Element)) return true
  return keyOf(old) === keyOf(fresh) && (!isHeld(old) || old.getAttribute("class") === fresh.getAttribute("class"))
}

/** Removes the nodes between, except held ones. */
const clear = (from: ChildNode | null, to: ChildNode | null) => {
  let node = from
  while (node !== null && node !== to) {
    const next: ChildNode | null = node.nextSibling
    if (!isHeld(node)) node.remove()
    node = next
  }
}

/** Whether a held node already shows the same in its place. */
const isThere = (fresh: Node, place: Element): boolean =>
  fresh instanceof Element &&
  all("[id]", Element, fresh).some(({ id }) =>
    all(`#${CSS.escape(id)}`, Element, place).some((same) =>
      all(":scope > *", Element, place).some((child) => child.contains(same) && isHeld(child)),
    ),
  )

const lay = (old: Element, fresh: Element): void => {
  // A price that the reader has not seen must not be taken over.
  if (old.matches(own)) return
  for (const name of old.getAttributeNames())
    if (!kept.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  let next: ChildNode | null = old.firstChild
  for (const node of fresh.childNodes) {
    let match: ChildNode | null = next
    while (match !== null && !fits(match, node)) match = match.nextSibling
    if (match === null) {
      if (!isThere(node, old)) old.insertBefore(document.importNode(node, true), next)
      continue
    }
    clear(next, match)
    if (match instanceof Element && node instanceof Element) lay(match, node)
    else if (match.nodeValue !== node.nodeValue) match.nodeValue = node.nodeValue
    next = match.nextSibling
  }
  clear(next, null)
}

/** The reader's focus, or something small in the middle of the window. */
const anchors = (): ReadonlyArray<Element> => {
  const focused = document.activeElement
  const middle = [0.5, 0.4, 0.6, 0.3, 0.7].map((part) => document.elementFromPoint(innerWidth / 2, innerHeight * part))
  return [focused === document.body ? null : focused, ...middle].filter((element): element is Element => {
    const box = element?.getBoundingClientRect()
    return box !== undefined && box.top >= 0 && box.bottom <= innerHeight && box.height < innerHeight / 3
  })
}

const fetched = async (): Promise<Document | undefined> => {
  const response = await fetch(location.pathname + location.search, {
    cache: "no-cache",
    headers: { accept: "text/html" },
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined)
  const text = response?.ok === true ? await response.text().catch(() => undefined) : undefined
  return text === undefined ? undefined : new DOMParser().parseFromString(text, "text/html")
}

/** Replaces parts with `data-renew` without moving the focus or the reader's view. False without an answer. */
export const renew = async (): Promise<boolean> => {
  const page = await fetched()
  if (page === undefined) return false
  const places = anchors().map((element) => [element, element.getBoundingClientRect().top] as const)
  for (const old of all("[data-renew]", HTMLElement)) {
    const fresh = page.querySelector(`[data-renew="${old.dataset["renew"]}"]`)
    if (fresh === null) continue
    if (fits(old, fresh)) lay(old, fresh)
    else if (!isHeld(old)) old.replaceWith(document.importNode(fresh, true))
  }
  dispatchEvent(new Event(renewed))
  // Some pages also show the content of this browser's storage.
  dispatchEvent(new Event("storage"))
  const place = places.find(([element]) => element.isConnected)
  if (place !== undefined) scrollBy({ top: place[0].getBoundingClientRect().top - place[1], behavior: "instant" })
  return true
}
