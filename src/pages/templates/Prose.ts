/** Plain text as a page: paragraphs between empty lines, `## ` before a heading, `- ` before each item of a list. */
import { type Html, html } from "../../platform/Html.ts"

const paragraph = (text: string): Html => {
  const lines = text.split("\n")
  if (text.startsWith("## ")) return html`<h2>${text.slice(3)}</h2> `
  return lines.every((line) => line.startsWith("- "))
    ? html`<ul>
        ${lines.map((line) => html`<li>${line.slice(2)}</li>`)}
      </ul> `
    : html`<p>${lines.join(" ")}</p> `
}

/** Nothing in a text becomes markup but the three forms above. */
export const prose = (text: string): ReadonlyArray<Html> =>
  text
    .replaceAll("\r\n", "\n")
    .split(/\n\s*\n/u)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(paragraph)
