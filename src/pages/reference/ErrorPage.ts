/** The list of all error codes and the page of each, also as Markdown. */
import { html } from "../../platform/Html.ts"
import type { Page } from "../templates/Layout.ts"
import { addressOf, type ErrorCode, isOfRoom, messageOf, root } from "./Errors.ts"
import { inline, json, pre, priced } from "./Parts.ts"

const about =
  "Every refusal has a stable code and a sentence that says what is wrong, what to do, and whether anything was charged. The altar's body links the page of its code as `docs`; a room's answer links this list in its `Link` header."

const lists = (errors: ReadonlyArray<ErrorCode>) =>
  [
    ["altar", "Codes of the altar", errors.filter((one) => !isOfRoom(one))],
    ["rooms", "Codes of signal rooms", errors.filter(isOfRoom)],
  ] as const

const framed = (title: string, description: string, path: string, body: Page["body"]): Page => ({
  title,
  description,
  path,
  markdown: `${path}.md`,
  chapter: "api",
  assets: "docs",
  preview: "/art/previews/guide.png",
  body: html`<div class="errors">
    <p class="trail"><a href="/docs">The API</a></p>
    ${body}
  </div>`,
})

export const listPage = (errors: ReadonlyArray<ErrorCode>): Page =>
  framed(
    "Error codes",
    "Every error code of the spirit altar and the signal room, with its meaning and its remedy.",
    root,
    html`<h1>Error codes</h1>
      <p>${inline(about)} As Markdown: <a href="${root}.md">errors.md</a>.</p>
      ${lists(errors).map(
        ([id, title, codes]) =>
          html`<section aria-labelledby="${id}">
            <h2 id="${id}">${title}</h2>
            <dl class="fields">
              ${codes.map(
                (one) =>
                  html`<dt>
                      <a href="${addressOf(one.code)}"><code>${one.code}</code></a>
                      <span class="quiet">${one.status}</span>
                    </dt>
                    <dd>${inline(one.meaning)}</dd>`,
              )}
            </dl>
          </section>`,
      )}`,
  )

export const codePage = (error: ErrorCode): Page => {
  const { code, example, meaning, operations, status } = error
  return framed(
    code,
    messageOf(error),
    addressOf(code),
    html`<h1><code>${code}</code></h1>
      <p class="quiet">
        An error code of the ${isOfRoom(error) ? "signal room" : "altar"}, with HTTP status ${status}.
      </p>
      ${meaning === messageOf(error) ? "" : html`<p>${inline(meaning)}</p>`}
      <h2>What to do</h2>
      <p>${messageOf(error)}</p>
      <h2>The answer</h2>
      ${pre("body", "The answer", json(example))}
      <h2>Operations with this code</h2>
      ${
        operations.length === 0
          ? html`<p>All of them.</p>`
          : html`<ul>
              ${operations.map(
                ({ method, operationId, path, summary }) =>
                  html`<li><a href="/docs#${operationId}">${priced(summary)}</a> <code>${method} ${path}</code></li>`,
              )}
            </ul>`
      }
      <p><a href="${root}">All codes</a> · <a href="${addressOf(code)}.md">Markdown</a></p>`,
  )
}

export const listMarkdown = (errors: ReadonlyArray<ErrorCode>): string =>
  [
    "# Error codes",
    about,
    ...lists(errors).flatMap(([, title, codes]) => [
      `## ${title}`,
      codes.map((one) => `- [\`${one.code}\`](${addressOf(one.code)}.md), ${one.status}: ${one.meaning}`).join("\n"),
    ]),
  ].join("\n\n") + "\n"

export const codeMarkdown = (error: ErrorCode): string =>
  [
    `# \`${error.code}\`, ${error.status}`,
    error.meaning,
    `What to do: ${messageOf(error)}`,
    `\`\`\`json\n${json(error.example)}\n\`\`\``,
    error.operations.length === 0
      ? "Answered on every path."
      : error.operations.map(({ method, path, summary }) => `- ${summary}: \`${method} ${path}\``).join("\n"),
    `All codes: [${root}.md](${root}.md).`,
  ].join("\n\n") + "\n"
