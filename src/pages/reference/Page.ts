/** The reference of the API as a page, complete without script. */
import { exampleOf } from "../../../schema/openapi/JsonSchema.ts"
import { errorsPath } from "../../../schema/Refusal.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "../templates/Layout.ts"
import { examplesOf } from "./Examples.ts"
import type { Forms } from "../../../schema/Form.ts"
import { type Member, membersOf } from "./Form.ts"
import {
  answerOf,
  bodyOf,
  type Chapter,
  type Operation,
  parametersOf,
  type Reference,
  statusesOf,
} from "./Operations.ts"
import { anchorOf, inline, sample } from "../templates/Prose.ts"
import { capitalized, money } from "../templates/Words.ts"

/** A summary ends with its price. */
const priced = (summary: string) => {
  const [, words = summary, dollars] = /^(.*) \(([0-9.]+) USD\)$/u.exec(summary) ?? []
  return dollars === undefined ? words : html`${words}, ${money(`$${dollars}`)}`
}

const field = ({ description, isRequired, path, words }: Member) =>
  html`<dt><code>${path}</code> <span class="quiet">${inline(words)}${isRequired ? "" : ", optional"}</span></dt>
    <dd>${inline(description)}</dd>`

const fields = (caption: string, rows: ReadonlyArray<Html>) =>
  rows.length === 0
    ? ""
    : html`<h4>${caption}</h4>
        <dl class="fields">${rows}</dl>`

const request = (forms: Forms, operation: Operation) => {
  const body = bodyOf(operation)
  return html`${fields("Parameters", parametersOf(forms, operation).map(field))}${
    body === undefined ? "" : fields("Body", membersOf(forms, body).map(field))
  }`
}

/** The members of the answer, folded: the example beside them shows the same. */
const answer = (forms: Forms, operation: Operation) => {
  const success = answerOf(operation)
  if (success === undefined) return ""
  const [status, form] = success
  return html`<details>
    <summary>Members of the answer, ${status}</summary>
    <dl class="fields">${membersOf(forms, form).map(field)}</dl>
  </details>`
}

const status = ({ code, meaning, status: number }: ReturnType<typeof statusesOf>[number]) =>
  html`<dt><b>${number}</b> ${code === "" ? "" : html`<a href="${errorsPath}#${code}"><code>${code}</code></a>`}</dt>
    <dd>${inline(meaning)}</dd>`

/** The refusals are folded: most are the same for every operation. */
const answers = (forms: Forms, operation: Operation) => {
  const all = statusesOf(forms, operation)
  const refusals = all.filter(({ code }) => code !== "")
  return html`${fields("Answers", all.filter(({ code }) => code === "").map(status))}${
    refusals.length === 0
      ? ""
      : html`<details>
          <summary>Refusals, ${refusals.length}</summary>
          <dl class="fields">${refusals.map(status)}</dl>
        </details>`
  }`
}

/** An example of each success and of the offer; the list of errors shows the other refusals. */
const exampleAnswers = (forms: Forms, operation: Operation) =>
  statusesOf(forms, operation)
    .filter(
      ({ form, status }, index, all) =>
        form !== undefined &&
        (Number(status) < 400 || status === "402") &&
        all.findIndex((response) => response.form !== undefined && response.status === status) === index,
    )
    .map(({ form = {}, status }) => [`Answer ${status}`, JSON.stringify(exampleOf(form, forms), null, 2)] as const)

/** The first example stands open. */
const samples = (id: string, examples: ReadonlyArray<readonly [name: string, text: string]>) =>
  html`<div class="samples">
    ${examples.map(
      ([name, text], index) =>
        html`<details ${index === 0 ? html`open` : ""}>
          <summary>${name}</summary>
          ${sample(`${id}-${anchorOf(name)}`, `${name}: ${id}`, text)}
        </details>`,
    )}
  </div>`

const operationOf = (publicUrl: string, forms: Forms, operation: Operation) => {
  const { description, method, operationId, path, summary } = operation
  return html`<article class="operation" id="${operationId}">
    <h3><a href="#${operationId}">${priced(summary)}</a></h3>
    <p class="route"><span class="method">${method}</span> <code>${path}</code></p>
    ${description === undefined ? "" : html`<p class="about">${inline(description)}</p>`}
    ${samples(operationId, [...examplesOf(publicUrl, forms, operation), ...exampleAnswers(forms, operation)])}
    <div class="text">${request(forms, operation)} ${answers(forms, operation)} ${answer(forms, operation)}</div>
  </article>`
}

const chapterOf = (publicUrl: string, forms: Forms, { description, operations, title }: Chapter) =>
  html`<section aria-labelledby="${anchorOf(title)}">
    <h2 id="${anchorOf(title)}">${title}</h2>
    <p>${inline(description)}</p>
    ${operations.map((operation) => operationOf(publicUrl, forms, operation))}
  </section>`

interface Entry {
  readonly anchor: string
  /** The method of an operation, or the status of an error code. */
  readonly kind: string
  readonly title: Html | string
}

/** The contents of a page by chapter, with their filter. */
export const contents = (
  thing: "operation" | "error code",
  chapters: ReadonlyArray<readonly [title: string, entries: ReadonlyArray<Entry>]>,
): Html =>
  html`<nav class="contents" aria-label="${capitalized(thing)}s">
    <input class="field scripted" type="search" placeholder="Filter ${thing}s" aria-label="Filter ${thing}s" />
    <p class="quiet" role="status" hidden>No ${thing} has these words.</p>
    ${chapters.map(
      ([title, entries]) =>
        html`<details>
          <summary>${title}</summary>
          <ul>
            ${entries.map(
              ({ anchor, kind, title }) =>
                html`<li>
                  <a href="#${anchor}"><span class="method">${kind}</span> ${title}</a>
                </li>`,
            )}
          </ul>
        </details>`,
    )}
  </nav>`

const entryOf = ({ method, operationId, summary }: Operation): Entry => ({
  anchor: operationId,
  kind: method,
  title: priced(summary),
})

export const referencePage = (publicUrl: string, reference: Reference): Page => ({
  title: "The API",
  description: "Every operation of the spirit altar and the signal room, with examples, answers and error codes.",
  path: "/docs",
  chapter: "docs",
  assets: "docs",
  body: html`<div class="reference">
    <header class="intro">
      <h1>The API</h1>
      <p>${inline(reference.description)}</p>
      <p>
        New here? <a href="/for-agents">For agents</a> shows a whole purchase in plain words. Every refusal has a code
        and <a href="${errorsPath}">a remedy</a>. Also available as <a href="/openapi.json">OpenAPI</a>, version
        ${reference.version}.
      </p>
    </header>
    ${contents(
      "operation",
      reference.chapters.map(({ operations, title }) => [title, operations.map(entryOf)]),
    )}
    <div class="operations">${reference.chapters.map((chapter) => chapterOf(publicUrl, reference.forms, chapter))}</div>
  </div>`,
})
