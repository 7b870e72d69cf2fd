/** The page as the altar has it now is laid over the one that is being read: what is the same is not touched. */
import { all, renewed } from "./dom.ts"

/** What a reader opened, or a script is busy with. */
const kept = new Set(["open", "disabled"])

/** Their content is what happened on this page, which the altar does not know. */
const own =
  "form, [role=status], [aria-live], [data-verdict], [data-reveal-verdict], [data-verify-list], [data-box-count]"

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

/** Somebody is in it, or has begun something in it: it stays where it is. */
const isHeld = (node: Node): boolean =>
  node instanceof Element &&
  (node.contains(document.activeElement) ||
    (node instanceof HTMLFormElement ? isUsed(node) : all("form", HTMLFormElement, node).some(isUsed)))

/** What an entry of a list is about. */
const keyOf = (element: Element) =>
  element.id ||
  (element.matches("li") ? element.querySelector("a")?.getAttribute("href") : element.getAttribute("data-path"))

const fits = (old: Node, fresh: Node): boolean => {
  if (old.nodeName !== fresh.nodeName) return false
  if (!(old instanceof Element && fresh instanceof Element)) return true
  return keyOf(old) === keyOf(fresh) && (!isHeld(old) || old.getAttribute("class") === fresh.getAttribute("class"))
}

/** Takes away what lies between, but for what is held. */
const clear = (from: ChildNode | null, to: ChildNode | null) => {
  let node = from
  while (node !== null && node !== to) {
    const next: ChildNode | null = node.nextSibling
    if (!isHeld(node)) node.remove()
    node = next
  }
}

/** What is held says the same already, in the place where it was begun. */
const isThere = (fresh: Node, place: Element): boolean =>
  fresh instanceof Element &&
  all("[id]", Element, fresh).some(({ id }) =>
    all(`#${CSS.escape(id)}`, Element, place).some((same) =>
      all(":scope > *", Element, place).some((child) => child.contains(same) && isHeld(child)),
    ),
  )

const lay = (old: Element, fresh: Element): void => {
  // A price that its reader has not been shown is not taken over either.
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

/** What the reader looks at: where the focus is, or something small in the middle of the window. */
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

/** Parts with `data-renew` are what the altar says now; neither the focus nor what is looked at moves. False without an answer. */
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
  // What the browser keeps is shown on some pages, too.
  dispatchEvent(new Event("storage"))
  const place = places.find(([element]) => element.isConnected)
  if (place !== undefined) scrollBy({ top: place[0].getBoundingClientRect().top - place[1], behavior: "instant" })
  return true
}
