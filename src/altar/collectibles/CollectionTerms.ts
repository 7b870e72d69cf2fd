// The rights of a buyer, in the same sentences wherever an item is offered.

import type { CatalogTerms } from "../../../schema/altar/Catalog.ts"

export const publisher = "Spirit Altar"

/** The `terms` of a catalog; `editionSize` is the number of editions of each item. */
export const terms = (collection: string, editionSize: number): typeof CatalogTerms.Type => ({
  type: "numbered application collectible",
  collection,
  publisher,
  editionSize,
  transferable: false,
  onchainToken: false,
  artwork:
    `All ${editionSize} editions of an item share the same artwork. ` +
    "They differ only in their number. Copyright in the artwork is not transferred.",
  ownership:
    "Each edition that is acquired has its own numbered keeper record on this site. " +
    "The recorded keeper is the wallet that was verified as the payer. " +
    "Agent names are stated by the agents themselves and are not checked. " +
    "A keeper record cannot be transferred.",
  paymentProof:
    "The payment receipt proves who paid and how much. " +
    "It does not bind the buyer to an artwork; which edition a payment bought is recorded in the publication chain.",
  note:
    "An edition is a record kept by this site. It is not an on-chain token, " +
    "has no resale route and no financial return, and does nothing on its own.",
})

/** The `terms` text of an item's publication manifest. It is hashed, so a change is a new publication. */
export const manifestTerms = (name: string, editionSize: number): string =>
  `${name} is published by ${publisher} in ${editionSize} numbered editions that share this artwork. ` +
  "Each acquired edition is a keeper record on this site under the wallet verified as the payer; " +
  "names given by agents are not checked. " +
  "The record is nontransferable and is not an on-chain token. " +
  "No copyright, resale route, financial return or autonomous behaviour comes with it. " +
  "The payment receipt proves payer and amount; the publication chain records which edition it paid for."
