/** Stones of a page as pebbles on a winding path, with the day below the first stone of each day. */
import { type Html, html } from "../../platform/Html.ts"
import { drawingOf } from "./Pebble.ts"
import { dayWords } from "./Words.ts"

interface Stone {
  readonly id: string
  readonly commitment: string
  readonly witnessedAt: string
}

const size = 52
const height = 120

const dayOf = ({ witnessedAt }: Stone) => witnessedAt.slice(0, 10)

/** `28 Nov`, which fits below one pebble. */
const label = (day: string) => /^\d+ \w{3}/u.exec(dayWords(day))?.[0]

/**
 * The path fills a desk; on a narrower screen it leads out of view, and the list has every stone. `place` is where the
 * page has the drawings that are shown again here.
 */
export const pebblePath = (stones: ReadonlyArray<Stone>, place: string, isContinued: boolean): Html => {
  const step = Math.min(104, Math.max(48, Math.floor(1150 / stones.length)))
  const points = stones.map((stone, index) => ({
    stone,
    x: step * (index + 0.5),
    y: index % 2 === 0 ? 34 : 60,
    isFirstOfDay: index === 0 || dayOf(stone) !== dayOf(stones[index - 1] ?? stone),
  }))
  const curve = points.map(({ x, y }, index) => (index === 0 ? `M${x} ${y}` : `S${x - step / 2} ${y} ${x} ${y}`))
  const days = [...Map.groupBy(stones, dayOf)].map(([day, { length }]) => `${length} on ${dayWords(day)}`)
  return html`<figure>
    <svg width="100%" height="${height}" aria-hidden="true" font-size="14" text-anchor="middle">
      <path
        fill="none"
        stroke="var(--line)"
        stroke-width="9"
        stroke-linecap="round"
        stroke-dasharray=".1 15"
        d="${curve.join("")}${isContinued && `h${step / 2}`}"
      />
      ${points.map(
        ({ isFirstOfDay, stone, x, y }) =>
          html`<a href="/witness/${stone.id}" tabindex="-1">
              <use
                href="#${drawingOf(stone.commitment, place)}"
                transform="translate(${x - size / 2} ${y - size / 2})scale(${size / 100})"
            /></a>
            ${isFirstOfDay && html`<text fill="var(--muted)" x="${x}" y="${height - 8}">${label(dayOf(stone))}</text>`}`,
      )}
    </svg>
    <figcaption class="unseen">Stones by day: ${days.join(", ")}.</figcaption>
  </figure>`
}
