/** `/verify`: the one place to check a receipt, a proof, a file or words, and how to check without this server. */
import { recipe } from "../../../schema/altar/Recipe.ts"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { priceWords } from "../../../schema/payments/Usdc.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import { html } from "../../platform/Html.ts"
import { opening, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { textField } from "./Offer.ts"
import { prose } from "./Prose.ts"
import { wordsForm } from "./Seal.ts"

const { formerPrices, priceAtomic } = setWitnessStone.sale
const prices = [priceAtomic, ...formerPrices].map(priceWords).join(" or ")

export interface CheckView {
  readonly publicUrl: string
  /** This server's log; empty without one. */
  readonly logs: ReadonlyArray<LogIdentity>
  /** The keys that sign or signed receipts of this server, by their DID URL. */
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly vkey: string }>
}

/** Needs only the standard library; a test runs it as shown. */
export const program = `import hashlib, json, sys, urllib.request

altar, start, before = sys.argv[1], 1, "0" * 64
number = 0
while start:
    with urllib.request.urlopen(f"{altar}/api/witness/chain?from={start}&limit=100") as answer:
        segment = json.load(answer)
    for stone in segment["entries"]:
        number += 1
        parts = [before, str(number), stone["commitment"], stone["witnessedAt"], stone["transaction"]]
        if hashlib.sha256("\\0".join(parts).encode()).hexdigest() != stone["chainHash"]:
            sys.exit(f"The chain is broken at stone {number}.")
        before = stone["chainHash"]
    start = segment["next"]
print(f"{number} stones hold. The last hash is {before}.")`

const byHand = (publicUrl: string) => `### The chain

A stone's \`chainHash\` is the SHA-256 of \`previousHash\`, \`sequence\`, \`commitment\`, \`witnessedAt\` and \`transaction\`, with one NUL byte between them. The first stone follows 64 zeros. This program downloads the chain and recomputes it. It needs only Python. Save it as \`check.py\`, and run \`python3 check.py ${publicUrl}\`.

\`\`\`python
${program}
\`\`\`

Keep the last hash. If a later check no longer finds it, the past was rewritten.

### The words of a stone

\`${recipe}\`

With the salt and the words, compare this with the stone's commitment:

\`\`\`sh
printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum
\`\`\`

### The payments

Each stone names the transaction that paid for it. Look it up at a node or an explorer of your choice: it holds a transfer of ${prices} in USDC from the stone's payer. Its block shows when the stone existed.

### With the command

The command \`spirit-altar verify\` does all of this. It comes with this server's software. Ask its operator for it.

\`\`\`sh
spirit-altar verify --url ${publicUrl} --rpc URL-OF-A-NODE
\`\`\`

With \`--rpc\` it looks up every payment at that node. With \`--log\` it checks the transparency log. \`verify --receipt FILE\` checks one receipt, and \`verify-proof FILE\` a proof of any log.`

export const checkPage = (view: CheckView): Page => ({
  title: "Check",
  description: "Check a receipt, a log proof, a file or sealed words in your own browser, or without this server.",
  path: "/verify",
  chapter: "check",
  preview: "stones",
  body: html`${opening(
      "Check",
      "Give your browser a receipt file, a log proof, words, or the file of a stone. It checks them here, and sends nothing but a fingerprint.",
    )}
    <section
      id="checker"
      aria-label="Check a file or words"
      ${mark("checker", { keys: JSON.stringify(view.keys), logs: JSON.stringify(view.logs) })}
    >
      <p class="unscripted notice">
        This needs script. The command does the same: <code>spirit-altar verify --receipt FILE</code>.
      </p>
      <div class="scripted column">
        ${textField(["checker-file", "The file", mark("file"), html`type="file" multiple`], "Choose it, drop it anywhere on this page, or paste its text. For a folder, choose SHA256SUMS with its files.", "take drop")}
        <div role="status"></div>
        <ol class="checks" role="list" aria-label="The checks"></ol>
      </div>
      ${wordsForm("")}
    </section>
    ${section("yourself", "Check it yourself", "Without this server's word, and without its code.", html`<div class="prose">${prose(byHand(view.publicUrl), "Check")}</div>`)}`,
})
