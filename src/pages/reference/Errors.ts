/** `/docs/errors`: every error code with its status, meaning and remedy. */
import { MethodNotAllowed, NotFound } from "../../../schema/Errors.ts"
import { exampleOf } from "../../../schema/openapi/JsonSchema.ts"
import { errorsPath } from "../../../schema/Refusal.ts"
import { RoomMethodNotAllowed } from "../../../schema/room/Errors.ts"
import { refusalOf } from "../../http/Responses.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "../templates/Layout.ts"
import { type Reference, statusesOf } from "./Operations.ts"
import { contents } from "./Page.ts"
import { sample } from "../templates/Prose.ts"

/** The document lists only methods that a path answers. */
const wrongMethod = [new MethodNotAllowed({}), new RoomMethodNotAllowed({}).error].map(({ code, message }) => ({
  code,
  status: "405",
  meaning: "The path does not support this method; `Allow` lists those it supports.",
  message,
}))

/** The sentence that the server sends with the code. */
const messageIn = (example: unknown): string => {
  const body: { readonly message?: string; readonly error?: { readonly message: string } } = Object(example)
  return body.message ?? body.error?.message ?? ""
}

const errorsOf = ({ chapters, forms }: Reference) => {
  const listed = chapters
    .flatMap(({ operations }) => operations.flatMap((operation) => statusesOf(forms, operation)))
    .flatMap(({ code, form, meaning, status }) =>
      code === "" || form === undefined ? [] : [{ code, status, meaning, message: messageIn(exampleOf(form, forms)) }],
    )
  const byCode = new Map([...listed, ...wrongMethod].map((error) => [error.code, error]))
  return [...byCode.values()].sort(
    (left, right) => Number(left.status) - Number(right.status) || (left.code < right.code ? -1 : 1),
  )
}

type ErrorCode = ReturnType<typeof errorsOf>[number]

const entry = ({ code, message, status }: ErrorCode): Html =>
  html`<article class="error" id="${code}">
    <h3>
      <a href="#${code}"><code>${code}</code></a> <span class="quiet">${status}</span>
    </h3>
    <p>${message}</p>
  </article>`

const chapter = (id: string, title: string, errors: ReadonlyArray<ErrorCode>): Html =>
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${errors.map(entry)}
  </section>`

const linkOf = ({ code, status }: ErrorCode) => ({ anchor: code, kind: status, title: html`<code>${code}</code>` })

/** The room writes its codes in capitals. */
const isOfRoom = ({ code }: ErrorCode) => code === code.toUpperCase()

export const errorsPage = (reference: Reference): Page => {
  const errors = errorsOf(reference)
  const ofAltar = errors.filter((error) => !isOfRoom(error))
  const ofRooms = errors.filter(isOfRoom)
  return {
    title: "Error codes",
    description: "Every error code of the spirit altar and the signal room, with its meaning and its remedy.",
    path: errorsPath,
    chapter: "docs",
    assets: "docs",
    body: html`<div class="reference">
      <header class="intro">
        <p><a href="/docs">The API</a></p>
        <h1>Error codes</h1>
        <p>
          Every refusal has a stable code and a sentence that says what is wrong, what to do, and whether anything was
          charged. The altar's body links its code here as <code>docs</code>; a room's answer links this page in its
          <code>Link</code> header.
        </p>
        ${sample("refusal", "A refusal", JSON.stringify(refusalOf(new NotFound({})), null, 2))}
      </header>
      ${contents("error code", [
        ["The altar", ofAltar.map(linkOf)],
        ["Signal rooms", ofRooms.map(linkOf)],
      ])}
      <div class="operations">
        ${chapter("altar", "Codes of the altar", ofAltar)} ${chapter("rooms", "Codes of signal rooms", ofRooms)}
      </div>
    </div>`,
  }
}
