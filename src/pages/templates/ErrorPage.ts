/** Error pages, each with the fault and the way on. */
import type { SpiritId } from "../../../schema/altar/Spirit.ts"
import { type Html, html } from "../../platform/Html.ts"
import { folio, type Page } from "./Layout.ts"
import { illustration } from "./Plates.ts"

const page = (title: string, spirit: SpiritId, what: Html | string): Page => ({
  title,
  description: title,
  chapter: "none",
  body: folio(
    html`<div class="plate">${illustration(spirit, "", "eager")}</div>`,
    html`<h1>${title}</h1>
      <p class="lead">${what}</p>
      <p class="doors">
        <a class="button button--main" href="/v2/">Open the field guide</a
        ><a class="button" href="/v2/acts">Search acts</a>
      </p>`,
  ),
})

export const notFound = (what: string): Page => page("Page not found", "midnight-otter", what)

export const limited = (message: string): Page => page("Too many searches", "static-fox", message)

export const failed = (requestId: string): Page =>
  page(
    "The guide cannot be read just now",
    "static-fox",
    html`Something failed on our side. Nothing was charged by opening this page. Try again in a minute. If it stays like
      this, report <code>${requestId}</code>.`,
  )

/** A broken chain is stated openly instead of as a general failure. */
export const broken = (message: string): Page =>
  page(
    "The chain is broken",
    "rain-crow",
    `A link of the witness chain failed its check before it was served: ${message}. The link is not shown. Until it is mended, trust receipts on the chain of payments, not this page.`,
  )

/** The same for revealed words that do not match their commitment. */
export const notSealed = (message: string): Page =>
  page(
    "These are not the words that were sealed",
    "rain-crow",
    `${message} The words were changed after they were revealed.`,
  )
