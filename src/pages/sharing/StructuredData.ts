/** The subject of a page in schema.org terms, for machines; the page itself shows the same facts. */
import { pathOf, recordText, sentence, type SettledAct } from "../templates/ActList.ts"
import { type Plate, spiritPath } from "../templates/Plates.ts"
import type { Stone } from "../templates/Witness.ts"
import type { About, Thing } from "./JsonLd.ts"

const site = (publicUrl: string): Thing => ({ "@type": "WebSite", name: "Spirit Altar", url: `${publicUrl}/v2/` })

/** Breadcrumbs from the first page to this one. */
const trail = (publicUrl: string, ...steps: ReadonlyArray<readonly [name: string, path: string]>): Thing => ({
  "@type": "BreadcrumbList",
  itemListElement: [["Field guide", "/v2/"] as const, ...steps].map(([name, path], index) => ({
    "@type": "ListItem",
    position: index + 1,
    name,
    item: `${publicUrl}${path}`,
  })),
})

export const home: About = (publicUrl) => [
  {
    ...site(publicUrl),
    description: "A field guide of 24 animal spirits with living altars.",
    inLanguage: "en",
  },
]

export const spirit =
  (plate: Plate): About =>
  (publicUrl) => [
    {
      "@type": "CreativeWork",
      name: plate.name,
      alternateName: plate.epithet,
      description: plate.description,
      position: plate.number,
      url: `${publicUrl}${spiritPath(plate.id)}`,
      image: `${publicUrl}/art/spirits/${plate.id}.svg`,
      isPartOf: site(publicUrl),
    },
    trail(publicUrl, [plate.name, spiritPath(plate.id)]),
  ]

export const stone =
  (one: Stone, preview: string): About =>
  (publicUrl) => [
    {
      "@type": "DigitalDocument",
      name: `Witness stone ${one.sequence}`,
      url: `${publicUrl}/witness/${one.id}`,
      image: `${publicUrl}${preview}`,
      datePublished: one.witnessedAt,
      position: one.sequence,
      identifier: [
        { "@type": "PropertyValue", propertyID: "SHA-256 commitment", value: one.commitment },
        { "@type": "PropertyValue", propertyID: "chain hash", value: one.chainHash },
        { "@type": "PropertyValue", propertyID: "transaction", value: one.transaction },
      ],
      isPartOf: site(publicUrl),
    },
    trail(publicUrl, ["Witness chain", "/v2/witness"], [`Witness stone ${one.sequence}`, `/witness/${one.id}`]),
  ]

/** An act happened when it settled; a candle's ends when it has burned down. */
export const act =
  (one: SettledAct, preview: string): About =>
  (publicUrl) => {
    const ends = recordText(one, "litUntil")
    return [
      {
        "@type": "Action",
        name: sentence(one),
        url: `${publicUrl}${pathOf(one)}`,
        image: `${publicUrl}${preview}`,
        actionStatus: "https://schema.org/CompletedActionStatus",
        startTime: one.settledAt,
        ...(ends === "" ? {} : { endTime: ends }),
      },
      trail(publicUrl, [sentence(one), pathOf(one)]),
    ]
  }
