/** Draws a stone in the page while its words are written. */
import { allMarked } from "./marks.ts"

/** Shows the stone of a commitment at the place of its drawing, or a blank place; `drawn` is there already. */
export const drawIn = (within: ParentNode, drawn?: string) => {
  const [place] = allMarked("drawn", within)
  let newest = drawn
  return async (commitment: string | undefined) => {
    if (place === undefined || commitment === newest) return
    newest = commitment
    if (commitment === undefined) return place.replaceChildren()
    // Most readers write nothing, so the drawing comes when it is needed. Without it the page works as well.
    const drawing = await import("../../../pages/templates/Pebble.ts").catch(() => undefined)
    if (drawing === undefined || newest !== commitment) return
    const { figure } = drawing
    const parsed = new DOMParser().parseFromString(figure(commitment, "drawn").text, "text/html")
    place.replaceChildren(...parsed.body.childNodes)
  }
}
