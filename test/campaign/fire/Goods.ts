/** The purchases of a campaign's buyers: each of the nine kinds of act, by itself and where its slot is already wanted. */
import type { Random } from "../../lab/Random.ts"

/** One paid request as it is asked for, again and again. */
export interface Order {
  readonly kind: Kind
  /** Below the server's URL, with the query. */
  readonly path: string
  /** JSON; absent where there is none. */
  readonly body: string | undefined
  /** Paid by a card of this kind, and not on chain. */
  readonly card?: keyof typeof cards
}

const weighted = <Name extends string>(counts: Readonly<Record<Name, number>>): ReadonlyArray<Name> =>
  Object.entries<number>(counts).flatMap(([name, count]) => Array.from({ length: count }, () => name as Name))

/** Cards that are charged at once, refused, charged by a slow bank, or never confirmed. */
const cards = { pm_card_visa: 7, pm_card_visa_chargeDeclined: 1, pm_bank_slow: 1, pm_card_authenticationRequired: 1 }
const wallet = weighted(cards)

/** Of a hundred purchases. Prayers and keepers have 24 slots each, so most of theirs meet another's. */
const shares = { prayer: 7, keeper: 7, material: 12, crab: 7, pixel: 7, day: 8, week: 5, month: 5, stone: 42 }
type Kind = keyof typeof shares
const deck = weighted(shares)

/** The acts on sale, as the server lists them. */
export type Catalog = Awaited<ReturnType<typeof catalogAt>>

const idsOf = async (url: string, member: string): Promise<ReadonlyArray<string>> => {
  const listed = (await (await fetch(url)).json()) as Readonly<Record<string, ReadonlyArray<{ readonly id: string }>>>
  const ids = (listed[member] ?? []).map(({ id }) => id)
  if (ids.length === 0) throw new Error(`${url} lists no ${member}`)
  return ids
}

export const catalogAt = async (url: string) => ({
  spirits: await idsOf(`${url}/api/spirits`, "spirits"),
  items: {
    material: await idsOf(`${url}/api/elements`, "elements"),
    crab: await idsOf(`${url}/api/companions`, "companions"),
    pixel: await idsOf(`${url}/api/pixels`, "pixels"),
  },
})

export const drawOrder = (random: Random, { items, spirits }: Catalog): Order => {
  const kind = random.pick(deck)
  const commitment = random.hex(32)
  const spirit = random.pick(spirits)
  const agentName = random.pick(["Wren", "Heron", "Otter", "Ünder the Oak"])
  // Candles of a week and of a month are sold for cards, too.
  const chance = random.fork("card")
  const byCard = (kind === "week" || kind === "month") && chance.chance(0.8) ? { card: chance.pick(wallet) } : undefined
  const json = (value: object) => JSON.stringify(value)
  switch (kind) {
    case "prayer":
      return { kind, path: `/api/prayers/${spirit}`, body: json({ agentName, intentionCommitment: commitment }) }
    case "keeper":
      return { kind, path: `/api/acquire/${spirit}`, body: random.chance(0.5) ? undefined : json({ agentName }) }
    case "material":
    case "crab":
    case "pixel": {
      const query = random.chance(0.5) ? `?spirit=${spirit}` : ""
      const body = random.chance(0.5) ? undefined : json({ agentName, reason: "It smells of June." })
      return { kind, path: `/api/elements/${random.pick(items[kind])}/collect${query}`, body }
    }
    case "day":
    case "week":
    case "month":
      return {
        kind,
        path: `/api/candles/${kind}/${spirit}`,
        body: json({ dedication: "For Grandma, who kept bees", intentionCommitment: commitment }),
        ...byCard,
      }
    case "stone":
      return { kind, path: "/api/witness", body: json({ commitment, kind: "prediction", agentName }) }
  }
}
