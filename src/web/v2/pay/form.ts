/** A form that pays: its words are sealed here, its progress is written out, and its receipt stays on the page. */
import { commitmentOf, randomHex, canHash, whyNot } from "../digest.ts"
import { all, button, make, one, verdict } from "../dom.ts"
import type { Keepsake } from "../keepsake.ts"
import { keepsake as kept } from "../keepsake.ts"
import { wrongWith } from "../seal.ts"
import type { Listed } from "./challenge.ts"
import { begin, remembered } from "./purchase.ts"
import { type Outcome, resume, run, type Said } from "./run.ts"
import * as Wallets from "./wallet.ts"

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** One wallet for all forms of the page. */
let wallet: Wallets.Wallet | undefined
const watchers: Array<() => void> = []

const use = (chosen: Wallets.Wallet) => {
  wallet = chosen
  for (const watch of watchers) watch()
}

const fields = (form: HTMLFormElement, name: string): ReadonlyArray<Field> => [
  ...all(`input[data-${name}]`, HTMLInputElement, form),
  ...all(`textarea[data-${name}]`, HTMLTextAreaElement, form),
  ...all(`select[data-${name}]`, HTMLSelectElement, form),
]

/** Path, price and body as the form stands now. */
const orderOf = async (form: HTMLFormElement) => {
  const rung = all("input[data-path]:checked", HTMLInputElement, form)[0]
  const query = new URLSearchParams(
    fields(form, "query").flatMap((field) => (field.value === "" ? [] : [[field.dataset["query"] ?? "", field.value]])),
  ).toString()
  const listed: Listed = {
    path: `${rung?.dataset["path"] ?? form.dataset["path"]}${query === "" ? "" : `?${query}`}`,
    amount: rung?.dataset["amount"] ?? form.dataset["amount"] ?? "",
    network: form.dataset["network"] ?? "",
  }
  const body: Record<string, string> = {}
  for (const field of fields(form, "body")) {
    const value = field.value.trim()
    if (value !== "") body[field.dataset["body"] ?? ""] = value
  }
  let keepsake: Keepsake | null = null
  for (const field of fields(form, "seal")) {
    if (field.value.trim() === "") continue
    const salt = randomHex(16)
    const problem = wrongWith(salt, field.value)
    if (problem !== undefined) throw new Error(problem)
    keepsake = { salt, words: field.value, commitment: await commitmentOf(salt, field.value) }
    body[field.dataset["seal"] ?? ""] = keepsake.commitment
  }
  return { listed, body: Object.keys(body).length === 0 ? "" : JSON.stringify(body), keepsake }
}

/** The steps as a list that is read out as it grows. */
const progress = (place: HTMLElement): Said => {
  const list = make("ol", { class: "steps", role: "list" })
  place.replaceChildren(list)
  const items = new Map<string, HTMLElement>()
  const kinds = { waits: ["waits", "Now"], done: ["holds", "Done"], failed: ["broken", "Stopped"] } as const
  return {
    step: (name, state, words) => {
      const item = items.get(name) ?? list.appendChild(make("li", {}))
      items.set(name, item)
      const [kind, word] = kinds[state]
      item.replaceChildren(verdict(kind, `${word}:`, words))
    },
  }
}

const text = (value: unknown) => (typeof value === "string" ? value : "")
const part = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const receipt = ({ answer: { body }, purchase }: Extract<Outcome, { tag: "settled" }>): HTMLElement => {
  const paid = body["receipt"]
  const line = text(body["line"])
  const permalink = URL.parse(text(body["permalink"]))
  return make(
    "div",
    { class: "receipt", tabindex: "-1" },
    verdict("holds", "Settled.", `${text(part(paid, "priceUsd"))} was charged, once.`),
    ...(line === "" ? [] : [make("blockquote", { class: "words" }, make("p", {}, line))]),
    make("p", {}, "Transaction ", make("code", { class: "long" }, text(part(paid, "transaction")))),
    make("p", {}, make("a", { class: "button", href: permalink?.pathname ?? "/v2/" }, "Open the act")),
    ...(purchase.keepsake === null
      ? []
      : [kept(purchase.keepsake, text(part(body["record"], "id")) || "sealed-words")]),
  )
}

const attach = (form: HTMLFormElement) => {
  const id = form.dataset["path"] ?? ""
  const network = form.dataset["network"] ?? ""
  const place = one("[data-progress]", HTMLElement, form)
  const row = one("[data-wallet]", HTMLElement, form)
  const submit = one("[data-submit]", HTMLButtonElement, form)
  const connector = one("[data-connect]", HTMLButtonElement, row)
  let busy = false

  const finish = (outcome: Outcome) => {
    if (outcome.tag === "settled") {
      const said = receipt(outcome)
      form.replaceChildren(said)
      said.focus()
      return
    }
    const open = outcome.tag === "open" ? remembered(id) : undefined
    place.append(
      verdict(
        outcome.tag === "open" ? "waits" : "broken",
        outcome.tag === "open" ? "Open." : "Not done.",
        outcome.message,
      ),
    )
    if (open !== undefined) place.append(button("Ask again", () => void again(), true))
  }

  const guard = async (work: () => Promise<Outcome>) => {
    if (busy) return
    busy = true
    submit.setAttribute("aria-disabled", "true")
    const outcome = await work().catch((error: unknown): Outcome => ({
      tag: "refused",
      message: error instanceof Error ? error.message : "Something failed.",
    }))
    busy = false
    submit.removeAttribute("aria-disabled")
    finish(outcome)
  }

  const again = () => {
    const purchase = remembered(id)
    return purchase === undefined ? Promise.resolve() : guard(() => resume(id, purchase, progress(place)))
  }

  const choose = async (): Promise<void> => {
    const [providers, sandbox] = await Promise.all([Wallets.found(), Wallets.isSandbox()])
    const ways = [
      ...(sandbox ? [{ name: "a play wallet", make: Wallets.playWallet }] : []),
      ...providers.map(({ name, provider }) => ({ name, make: () => Wallets.connect(name, provider, network) })),
    ]
    const take = async (way: (typeof ways)[number]) => {
      row.replaceChildren(make("p", { class: "quiet" }, `Opening ${way.name}.`))
      use(await way.make())
    }
    const [first] = ways
    if (first === undefined)
      throw new Error("No wallet was found in this browser. The exact call below works from a terminal or an agent.")
    if (ways.length === 1) return take(first)
    row.replaceChildren(
      make("p", {}, "Pay with "),
      ...ways.map((way) => button(way.name, () => void settleOn(() => take(way)))),
    )
  }

  const settleOn = (work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      row.replaceChildren(
        connector,
        verdict("broken", "No wallet.", error instanceof Error ? error.message : "The wallet refused."),
      )
    })

  const show = () => {
    if (wallet === undefined) return
    row.replaceChildren(
      make(
        "p",
        {},
        make("b", {}, wallet.label),
        " ",
        make(
          "code",
          { class: "hash", title: wallet.address },
          `${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}`,
        ),
      ),
    )
  }

  for (const select of all("select[data-options]", HTMLSelectElement, form)) {
    const options = document.getElementById(select.dataset["options"] ?? "")
    if (options instanceof HTMLTemplateElement) select.append(options.content.cloneNode(true))
  }
  // What the button says is what will be asked for.
  for (const rung of all("input[data-amount]", HTMLInputElement, form)) {
    rung.addEventListener("change", () => {
      one("[data-price]", HTMLElement, form).textContent = `$${(Number(rung.dataset["amount"]) / 1_000_000).toFixed(2)}`
    })
  }
  connector.addEventListener("click", () => void settleOn(choose))
  watchers.push(show)
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return place.replaceChildren(verdict("broken", "Cannot seal here.", whyNot))
    // Something signed is still open: it is asked for, and nothing else is signed beside it.
    if (remembered(id)?.payment != null) return void again()
    const payer = wallet
    if (payer === undefined) return void settleOn(choose).then(() => connector.isConnected && connector.focus())
    void guard(async () => {
      const { body, keepsake, listed } = await orderOf(form)
      return run(id, begin(listed, body, keepsake), payer, progress(place))
    })
  })
  if (remembered(id) !== undefined) void again()
}

/** The sandbox says so before anybody asks: its money is play money. */
const greet = async (forms: ReadonlyArray<HTMLFormElement>) => {
  if (!(await Wallets.isSandbox())) return
  for (const form of forms) {
    for (const connector of all("[data-connect]", HTMLButtonElement, form)) connector.textContent = "Make a play wallet"
  }
  if (Wallets.hasPlayWallet() && wallet === undefined) use(await Wallets.playWallet())
}

/** The test network is where a sandbox may be; elsewhere it is asked for when somebody wants to pay. */
const testNetwork = "eip155:84532"

export const start = () => {
  const forms = all("[data-pay]", HTMLFormElement)
  for (const form of forms) attach(form)
  if (forms.some((form) => form.dataset["network"] === testNetwork)) void greet(forms).catch(() => undefined)
}
