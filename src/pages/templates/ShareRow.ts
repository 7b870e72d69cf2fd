/** The address of a page to share or copy, and its picture to download. */
import { type Html, html } from "../../platform/Html.ts"

/** `picture` is absent where the page is shared without one. The last button shows where the platform can share. */
export const shareRow = (address: string, picture: string | undefined): Html =>
  html`<p class="share doors--small">
    <code class="long" id="share-address">${address}</code>
    <button class="button scripted" type="button" data-copy="share-address">Copy link</button>
    ${picture === undefined ? "" : html`<a class="button" href="${picture}" download>Save picture</a>`}
    <button class="button" type="button" data-share="${address}" hidden>Share</button>
  </p>`
