/** The address of a page to copy, and its picture to download. */
import { type Html, html } from "../../platform/Html.ts"

/** `picture` is absent where the page is shared without one. */
export const shareRow = (address: string, picture: string | undefined): Html =>
  html`<p class="share">
    <code class="long" id="share-address">${address}</code>
    <button class="button scripted" type="button" data-copy="share-address">Copy the link</button>
    ${picture === undefined ? "" : html`<a class="button" href="${picture}" download>Download the picture</a>`}
  </p>`
