/** Markdown as HTML: headings, lists, tables, blocks of code, links and code in backticks. Anything else is text. */
import { type Html, html } from "../../platform/Html.ts"
import { mark } from "./Marks.ts"

/** Text with `code` and [links](https://…) to pages. */
export const inline = (text: string): ReadonlyArray<Html | string> =>
  text.split(/(`[^`]+`|\[[^\]]+\]\((?:https?:\/)?\/[^)\s]*\))/u).map((piece, index) => {
    if (index % 2 === 0) return piece
    const [, title, url] = /^\[([^\]]+)\]\((.*)\)$/u.exec(piece) ?? []
    return url === undefined ? html`<code>${piece.slice(1, -1)}</code>` : html`<a href="${url}">${title ?? url}</a>`
  })

/** A block of code with its copy button; long lines wrap. */
export const sample = (id: string, label: string, text: Html | string): Html =>
  html`<div class="sample">
    <button class="copy" type="button" ${mark("copy", { copy: id })} aria-label="Copy ${label}">Copy</button>
    <pre><code id="${id}">${text}</code></pre>
  </div> `

const isHeading = (text: string) => text.startsWith("## ")

/** The words of a heading, for a link to it. */
export const anchorOf = (heading: string) =>
  heading
    .replace(/^#+ /u, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")

export const headingsIn = (text: string) =>
  text.split("\n").flatMap((line) => (isHeading(line) ? [{ anchor: anchorOf(line), title: line.slice(3) }] : []))

const cellsOf = (row: string) =>
  row
    .slice(1, -1)
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const table = ([head = "", , ...rows]: ReadonlyArray<string>): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${cellsOf(head).join(", ")}">
    <table>
      <thead>
        <tr>
          ${cellsOf(head).map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${cellsOf(row).map((cell, index) => html`<td ${mark("head", { head: cellsOf(head)[index] })}>${inline(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div> `

const block = (text: string): Html => {
  const lines = text.split("\n")
  if (isHeading(text)) return html`<h2 id="${anchorOf(text)}">${text.slice(3)}</h2> `
  if (text.startsWith("### ")) return html`<h3 id="${anchorOf(text)}">${text.slice(4)}</h3> `
  if (lines.every((line) => line.startsWith("|"))) return table(lines)
  return lines.every((line) => line.startsWith("- "))
    ? html`<ul>
        ${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}
      </ul> `
    : html`<p>${inline(lines.join(" "))}</p> `
}

/** `name` tells its blocks of code from all others of the page. */
export const prose = (text: string, name = ""): Html =>
  html`${text
    .replaceAll("\r\n", "\n")
    .split(/^```\w*\n([^]*?)\n```$/mu)
    .map((part, index) =>
      index % 2 === 1
        ? sample(`${anchorOf(name)}-${index}`, `Commands ${(index + 1) / 2}, ${name}`, part)
        : part
            .split(/\n\s*\n/u)
            .map((text) => text.trim())
            .filter((text) => text !== "")
            .map(block),
    )}`
