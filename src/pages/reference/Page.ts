/** The reference of the API as a page, readable and searchable without script. */
import type { Schema } from "effect"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "../templates/Layout.ts"
import { addressOf, root } from "./Errors.ts"
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
import { inline, json, priced } from "./Parts.ts"
import { choice, samples, shownAnswers } from "./Samples.ts"

const anchorOf = (title: string) => title.toLowerCase().replace(/\W+/gu, "-")

const choicesOf = (choices: ReadonlyArray<Schema.Json>) =>
  choices.length === 0
    ? ""
    : html`<details class="choices">
        <summary>${choices.length} names</summary>
        <p>${choices.map((choice) => html`<code>${String(choice)}</code> `)}</p>
      </details>`

const field = ({ choices, description, isRequired, path, words }: Member) =>
  html`<dt><code>${path}</code> <span class="quiet">${inline(words)}${isRequired ? "" : ", optional"}</span></dt>
    <dd>${inline(description)}${choicesOf(choices)}</dd>`

const fields = (caption: string, rows: ReadonlyArray<Html>) =>
  rows.length === 0
    ? ""
    : html`<h4>${caption}</h4>
        <dl class="fields">${rows}</dl>`

const places = [
  ["path", "In the path"],
  ["query", "In the query"],
  ["header", "Headers"],
] as const

const parameters = (forms: Forms, operation: Operation) => {
  const all = parametersOf(forms, operation)
  return places.map(([place, caption]) => fields(caption, all.filter((one) => one.place === place).map(field)))
}

const body = (forms: Forms, operation: Operation) => {
  const form = bodyOf(operation)
  return form === undefined ? "" : fields("Body", membersOf(forms, form).map(field))
}

/** The members of the answer, folded: the example beside them shows the same. */
const answer = (forms: Forms, operation: Operation) => {
  const found = answerOf(operation)
  if (found === undefined) return ""
  const [status, form] = found
  return html`<details>
    <summary>Members of the answer, ${status}</summary>
    <dl class="fields">${membersOf(forms, form).map(field)}</dl>
  </details>`
}

/** Each status with its codes. A code leads to its page, which shows its body. */
const answers = (forms: Forms, operation: Operation) =>
  fields(
    "Answers",
    statusesOf(forms, operation).map(
      ({ code, meaning, status }) =>
        html`<dt><b>${status}</b> ${code === "" ? "" : html`<a href="${addressOf(code)}"><code>${code}</code></a>`}</dt>
          <dd>${inline(meaning)}</dd>`,
    ),
  )

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
    <h3><a href="#${operation.operationId}">${priced(operation.summary)}</a></h3>
    <p class="route"><span class="method">${operation.method}</span> <code>${operation.path}</code></p>
    ${operation.description === undefined ? "" : html`<p class="about">${inline(operation.description)}</p>`}
    <div class="code">${samples(publicUrl, forms, operation)} ${shownAnswers(forms, operation)}</div>
    <div class="text">
      ${parameters(forms, operation)} ${body(forms, operation)} ${answer(forms, operation)} ${answers(forms, operation)}
      ${tryIt(forms, operation)}
    </div>
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
                  <a href="#${operationId}"><span class="method">${method}</span> ${priced(summary)}</a>
                </li>`,
            )}
          </ul>
        </details>`,
    )}
  </nav>`

/** The first operation, which is free, in the language of the examples; then the first act on sale. */
const firstCall = (publicUrl: string, { chapters, forms }: Reference) => {
  const operations = chapters.flatMap((chapter) => chapter.operations)
  const [first, paid] = [operations[0], operations.find(isPaid)]
  return first === undefined
    ? ""
    : html`<div class="first">
        <p><b>Try it now:</b> ${first.summary.toLowerCase()}, free and without a key or an account.</p>
        ${samples(publicUrl, forms, first, "first")}
        ${paid === undefined ? "" : html`<p>Then buy: <a href="#${paid.operationId}">${priced(paid.summary)}</a>.</p>`}
      </div>`
}

export const page = (publicUrl: string, reference: Reference): Page => ({
  title: "The API",
  description: "Every operation of the spirit altar and the signal room, with examples, answers and error codes.",
  path: "/docs",
  chapter: "api",
  assets: "docs",
  preview: "/art/previews/guide.png",
  markdown: "/docs.md",
  body: html`<div class="reference">
    <header class="intro">
      <div>
        <h1>The API</h1>
        <p>${reference.description}</p>
      </div>
      ${firstCall(publicUrl, reference)}
      <p>
        New here? <a href="/for-agents">For agents</a> shows a whole purchase in plain words. Every refusal has a code
        and <a href="${root}">a page that says what to do</a>. The same as <a href="/openapi.json">OpenAPI</a>, version
        ${reference.version}, and as <a href="/docs.md">Markdown</a>.
      </p>
    </header>
    ${contents(reference.chapters)}
    <div class="operations">
      ${choice}${reference.chapters.map((chapter) => chapterOf(publicUrl, reference.forms, chapter))}
    </div>
  </div>`,
})
