/** The reference of the API as a page, readable and searchable without script. */
import type { Schema } from "effect"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "../templates/Layout.ts"
import { examplesOf } from "./Examples.ts"
import { exampleOf, type Forms, type Member, membersOf } from "./Form.ts"
import {
  answerOf,
  bodyOf,
  type Chapter,
  isPaid,
  type Operation,
  type Parameter,
  parametersOf,
  type Reference,
  statusesOf,
} from "./Operations.ts"

/** Every second piece of a text split at backticks is code. */
const inline = (text: string): ReadonlyArray<Html | string> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))

const anchorOf = (title: string) => title.toLowerCase().replace(/\W+/gu, "-")

const copied = (id: string, what: string) =>
  html`<button class="copy" type="button" data-copy="${id}" aria-label="Copy ${what}">Copy</button>`

const pre = (id: string, label: string, text: string) =>
  html`<div class="sample">
    ${copied(id, label)}
    <pre tabindex="0" role="group" aria-label="${label}"><code id="${id}">${text}</code></pre>
  </div>`

const choicesOf = (choices: ReadonlyArray<Schema.Json>) =>
  choices.length === 0
    ? ""
    : html`<details class="choices">
        <summary>${choices.length} names</summary>
        <p>${choices.map((choice) => html`<code>${String(choice)}</code> `)}</p>
      </details>`

const row = ({ choices, description, isRequired, path, words }: Member) =>
  html`<tr>
    <th scope="row"><code>${path}</code>${isRequired ? "" : html` <span class="quiet">optional</span>`}</th>
    <td>${inline(words)}</td>
    <td>${inline(description)}${choicesOf(choices)}</td>
  </tr>`

const table = (caption: string, rows: ReadonlyArray<Html>) =>
  rows.length === 0
    ? ""
    : html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}">
        <table>
          <caption>
            ${caption}
          </caption>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>`

const places = [
  ["path", "In the path"],
  ["query", "In the query"],
  ["header", "Headers"],
] as const

const parameters = (forms: Forms, operation: Operation) => {
  const all = parametersOf(forms, operation)
  return places.map(([place, caption]) => table(caption, all.filter((one) => one.place === place).map(row)))
}

const body = (forms: Forms, operation: Operation) => {
  const form = bodyOf(operation)
  return form === undefined ? "" : table("Body", membersOf(forms, form).map(row))
}

const json = (value: Schema.Json) => JSON.stringify(value, null, 2)

const answer = (forms: Forms, operation: Operation) => {
  const found = answerOf(operation)
  if (found === undefined) return ""
  const [status, form] = found
  return html`<details>
    <summary>The answer, ${status}</summary>
    ${pre(`${operation.operationId}-answer`, "Example answer", json(exampleOf(forms, form)))}
    ${table("Members of the answer", membersOf(forms, form).map(row))}
  </details>`
}

const answers = (forms: Forms, operation: Operation) => {
  const rows = statusesOf(forms, operation).map(
    ({ code, meaning, status }) =>
      html`<tr>
        <th scope="row">${status}</th>
        <td>${code === "" ? "" : html`<code>${code}</code>`}</td>
        <td>${inline(meaning)}</td>
      </tr>`,
  )
  return html`<details>
    <summary>Every status and code, ${rows.length}</summary>
    ${table("Statuses and codes", rows)}
  </details>`
}

const samples = (publicUrl: string, forms: Forms, operation: Operation) =>
  html`<div class="samples">
    ${examplesOf(publicUrl, forms, operation).map(
      ({ name, text }, index) =>
        html`<details name="${operation.operationId}-samples" ${index === 0 ? html`open` : ""}>
          <summary>${name}</summary>
          ${pre(`${operation.operationId}-${name.toLowerCase()}`, `${name} example`, text)}
        </details>`,
    )}
  </div>`

const input = (forms: Forms, operation: Operation, { name, in: place, required, schema }: Parameter) => {
  const id = `${operation.operationId}-${place}-${name}`
  const value = place === "path" || required ? exampleOf(forms, schema) : ""
  return html`<p>
    <label for="${id}">${name}</label>
    <input
      class="field"
      id="${id}"
      name="${name}"
      data-in="${place}"
      value="${typeof value === "string" ? value : json(value)}"
      autocomplete="off"
      spellcheck="false"
      ${required ? html`required` : ""}
    />
  </p>`
}

/** A payment is signed by a wallet, so it has no input. */
const typed = ({ in: place, name }: Parameter) => place !== "header" || name === "Idempotency-Key"

/** Hidden until its script is loaded. */
const tryIt = (forms: Forms, operation: Operation) => {
  const form = bodyOf(operation)
  const id = operation.operationId
  return html`<details class="try" data-try>
    <summary>Try it here</summary>
    <form data-method="${operation.method}" data-path="${operation.path}">
      ${(operation.parameters ?? []).filter(typed).map((one) => input(forms, operation, one))}
      ${
        (operation.security ?? []).some((one) => "apiKey" in one)
          ? html`<p>
              <label for="${id}-token">Invite token</label>
              <input class="field" id="${id}-token" data-in="token" autocomplete="off" spellcheck="false" required />
            </p>`
          : ""
      }
      ${
        form === undefined
          ? ""
          : html`<p>
              <label for="${id}-body">Body</label>
              <textarea class="field" id="${id}-body" data-in="body" rows="6" spellcheck="false">
${json(exampleOf(forms, form))}</textarea>
            </p>`
      }
      ${
        isPaid(operation)
          ? html`<p class="quiet small">
              Sent without a payment: the answer is 402 with the offer that your wallet would sign. Nothing is charged.
            </p>`
          : ""
      }
      <p><button class="button" type="submit">Send</button></p>
    </form>
    <div role="status" data-said></div>
    <pre tabindex="0" role="group" aria-label="What was answered" data-answer hidden></pre>
  </details>`
}

const operationOf = (publicUrl: string, forms: Forms, operation: Operation) =>
  html`<article class="operation" id="${operation.operationId}" data-operation>
    <h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
    <p class="route"><span class="method">${operation.method}</span> <code>${operation.path}</code></p>
    ${operation.description === undefined ? "" : html`<p>${inline(operation.description)}</p>`}
    ${samples(publicUrl, forms, operation)} ${parameters(forms, operation)} ${body(forms, operation)}
    ${answer(forms, operation)} ${answers(forms, operation)} ${tryIt(forms, operation)}
  </article>`

const chapterOf = (publicUrl: string, forms: Forms, { description, operations, title }: Chapter) =>
  html`<section aria-labelledby="${anchorOf(title)}" data-chapter>
    <h2 id="${anchorOf(title)}">${title}</h2>
    <p>${inline(description)}</p>
    ${operations.map((operation) => operationOf(publicUrl, forms, operation))}
  </section>`

const contents = (chapters: ReadonlyArray<Chapter>) =>
  html`<nav class="contents" aria-label="Operations">
    <p class="find" data-find>
      <label for="find">Find an operation, a field or a code</label>
      <input class="field" id="find" type="search" autocomplete="off" spellcheck="false" />
    </p>
    <p role="status" class="quiet small" data-found></p>
    ${chapters.map(
      ({ operations, title }) =>
        html`<details data-chapter>
          <summary>${title}</summary>
          <ul>
            ${operations.map(
              ({ method, operationId, summary }) =>
                html`<li data-entry="${operationId}">
                  <a href="#${operationId}"><span class="method">${method}</span> ${summary}</a>
                </li>`,
            )}
          </ul>
        </details>`,
    )}
  </nav>`

export const page = (publicUrl: string, { chapters, description, forms, version }: Reference): Page => ({
  title: "The API",
  description: "Every operation of the spirit altar and the signal room, with examples, answers and error codes.",
  path: "/docs",
  chapter: "api",
  assets: "docs",
  preview: "/art/previews/guide.png",
  body: html`<div class="reference">
    <header class="intro">
      <h1>The API</h1>
      <p>${description}</p>
      <p>
        Version ${version}, generated from the contract that the server runs. The same as a document for generators:
        <a href="/openapi.json">openapi.json</a>; as Markdown: <a href="/docs.md">docs.md</a>. For agents, in plain
        words: <a href="/for-agents">for agents</a>.
      </p>
    </header>
    ${contents(chapters)}
    <div class="operations">${chapters.map((chapter) => chapterOf(publicUrl, forms, chapter))}</div>
  </div>`,
})
