/** The address of a page to share or copy. */
import { type Html, html } from "../../platform/Html.ts"

/** The last button shows where the platform can share. */
export const shareRow = (address: string): Html =>
  html`<p class="share doors--small">
    <code id="share-address">${address}</code>
    <button class="button scripted" type="button" data-copy="share-address">Copy link</button>
    <button class="button" type="button" data-share="${address}" hidden>Share</button>
  </p>`
