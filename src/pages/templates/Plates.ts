/** The 24 plates of the guide: their numbers, their chapters, and their layout on a page. */
import { hedges, hills, type SpiritEntry, spirits, waters } from "../../altar/Spirits.ts"
import { type Html, html } from "../../platform/Html.ts"
import { roman } from "./Words.ts"

export interface Plate extends SpiritEntry {
  /** From 1, in the order of the guide. */
  readonly number: number
}

export const plates: ReadonlyArray<Plate> = spirits.map((entry, index) => ({ ...entry, number: index + 1 }))

const byId = new Map<string, Plate>(plates.map((plate) => [plate.id, plate]))

export const plateOf = (id: string): Plate | undefined => byId.get(id)

export const nameOf = (id: string): string => byId.get(id)?.name ?? id

const chapter = (title: string, note: string, habitat: object) => ({
  title,
  note,
  plates: plates.filter(({ id }) => id in habitat),
})

export type Chapter = ReturnType<typeof chapter>

/** Three habitats with eight plates each; the plates keep the numbers of the guide. */
export const chapters: ReadonlyArray<Chapter> = [
  chapter("Of hedges, walls and rooms", "Met within sight of a house. Most of them have seen you first.", hedges),
  chapter("Of water and its edges", "Wait until the surface is quiet, then a little longer.", waters),
  chapter("Of stone, sand and far hills", "Bring water. They will be where they were.", hills),
]

export const option = (value: string, words: string, chosen: string | undefined): Html =>
  html`<option value="${value}" ${value === (chosen ?? "") ? html` selected` : ""}>${words}</option>`

/** All spirits to choose from, after the words for none. */
export const spiritOptions = (none: string, chosen: string | undefined): Html =>
  html`${option("", none, chosen)} ${plates.map(({ id, name }) => option(id, name, chosen))}`

export const spiritPath = (id: string) => `/v2/spirits/${id}`

export const spiritLink = (id: string): Html => html`<a href="${spiritPath(id)}">${nameOf(id)}</a>`

/** The illustration on its own paper; the text beside it names what it shows. */
export const illustration = (id: string, alt: string, when: "eager" | "lazy"): Html =>
  html`<img src="/art/spirits/${id}.svg" alt="${alt}" width="256" height="256" loading="${when}" decoding="async" />`

export const plateFigure = (plate: Plate): Html =>
  html`<figure class="plate">
    ${illustration(plate.id, `${plate.name}, drawn after the ${plate.kin}`, "eager")}
    <figcaption>
      <span class="quiet">Plate ${roman(plate.number)}.</span> <b>${plate.name}</b>
      <span class="mark">after the ${plate.kin}</span>
    </figcaption>
  </figure>`
