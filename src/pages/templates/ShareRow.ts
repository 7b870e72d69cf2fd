/** The address of a page to share or copy, its picture to download, and its certificate. */
import { type Html, html } from "../../platform/Html.ts"

/** Without a picture or certificate the page is shared without it. The last button shows where the platform can share. */
export const shareRow = (address: string, picture: string | undefined, certificate?: string): Html =>
  html`<p class="share doors--small">
    <code id="share-address">${address}</code>
    <button class="button scripted" type="button" data-copy="share-address">Copy link</button>
    ${picture === undefined ? "" : html`<a class="button" href="${picture}" download>Save picture</a>`}
    ${certificate === undefined ? "" : html`<a class="button" href="${certificate}">Certificate to print</a>`}
    <button class="button" type="button" data-share="${address}" hidden>Share</button>
  </p>`
