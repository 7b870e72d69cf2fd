/** Words are sealed, checked and, when their owner says so, revealed; until then nothing of them is sent. */
import { normalizedLength } from "../../../schema/altar/Recipe.ts"
import { ask, messageOf, post } from "./ask.ts"
import { canHash, commitmentOf, randomHex, whyNot } from "./digest.ts"
import { all, make, one, verdict } from "./dom.ts"
import { keepsake } from "./keepsake.ts"

const saltRule = "A salt has 16 to 256 characters."

const wrongWith = (salt: string, words: string): string | undefined => {
  const [saltLength, wordsLength] = [[...salt].length, normalizedLength(words)]
  if (saltLength < 16 || saltLength > 256) return saltRule
  return wordsLength < 1 || wordsLength > 280
    ? `Sealed words have 1 to 280 characters; these are ${wordsLength}.`
    : undefined
}

interface Parts {
  readonly form: HTMLFormElement
  readonly salt: HTMLInputElement
  readonly words: HTMLTextAreaElement
  readonly result: HTMLElement
}

/** The form answers with whatever `work` makes of its salt and words. */
const answer = (
  form: HTMLFormElement,
  work: (salt: string, words: string, parts: Parts) => Promise<ReadonlyArray<Node>>,
) => {
  const parts: Parts = {
    form,
    salt: one("[data-salt]", HTMLInputElement, form),
    words: one("[data-words]", HTMLTextAreaElement, form),
    result: one("[data-result]", HTMLElement, form),
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return parts.result.replaceChildren(verdict("broken", "Cannot hash here.", whyNot))
    void work(parts.salt.value, parts.words.value, parts).then(
      (nodes) => parts.result.replaceChildren(...nodes),
      (error: unknown) =>
        parts.result.replaceChildren(verdict("broken", "Not done.", error instanceof Error ? error.message : "")),
    )
  })
}

const match = async (salt: string, words: string, against: string) => {
  const computed = await commitmentOf(salt, words)
  return computed === against
    ? { same: true, said: [verdict("holds", "They match.", "These words were sealed with this salt.")] }
    : {
        same: false,
        said: [
          verdict(
            "broken",
            "They do not match.",
            "This salt and these words hash to ",
            make("code", { class: "long" }, computed),
          ),
        ],
      }
}

const checking = (form: HTMLFormElement) => {
  const commitment = one("[data-commitment]", HTMLInputElement, form)
  answer(form, async (salt, words) => (await match(salt, words, commitment.value.trim())).said)
}

const sealing = (form: HTMLFormElement) =>
  answer(form, async (typed, words) => {
    const salt = typed === "" ? randomHex(16) : typed
    const problem = wrongWith(salt, words)
    if (problem !== undefined) return [verdict("broken", "Not sealed.", problem)]
    return [verdict("holds", "Sealed."), keepsake({ salt, words, commitment: await commitmentOf(salt, words) })]
  })

const revealing = (form: HTMLFormElement) =>
  answer(form, async (salt, words, { form: { dataset } }) => {
    const { said, same } = await match(salt, words, dataset["against"] ?? "")
    if (!same) return [...said, make("p", {}, "Nothing was sent.")]
    const reply = await ask(dataset["reveal"] ?? "", post({ salt, [dataset["name"] ?? "text"]: words }))
    return reply.status === 200 || reply.status === 201
      ? [
          verdict("holds", "Revealed."),
          make("p", {}, make("a", { href: dataset["shown"] ?? location.pathname }, "See the words")),
        ]
      : [verdict("broken", "Not revealed.", messageOf(reply))]
  })

export const start = () => {
  for (const form of all("[data-check]", HTMLFormElement)) checking(form)
  for (const form of all("[data-sealing]", HTMLFormElement)) sealing(form)
  for (const form of all("[data-reveal]", HTMLFormElement)) revealing(form)
}

export { wrongWith }
