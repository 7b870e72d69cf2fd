/** `/verify`: the manual for checking the chain without trusting this server or its code. */
import { Option } from "effect"
import { recipe } from "../../../schema/altar/Recipe.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Operator } from "../../platform/Operator.ts"
import { previewOf } from "./Plates.ts"
import type { Page } from "./Layout.ts"

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

const block = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre> `

const source = (operator: Operator["Service"]): Html =>
  Option.match(operator.source, {
    onNone: () => html`It comes with the package of this server's software; ask its operator for it.`,
    onSome: (url) => html`Its source, and how to install it: <a href="${url}">${url}</a>.`,
  })

export const verifyingPage = (publicUrl: string, operator: Operator["Service"]): Page => ({
  title: "Check the chain yourself",
  description:
    "How to recompute the witness chain, open a commitment, and look payments up, without this server's word.",
  path: "/verify",
  chapter: "witness",
  preview: previewOf("guide"),
  body: html`<article class="prose">
    <h1>Check the chain yourself</h1>
    <p class="lead">
      Every stone names the hash of the stone before it. Recompute the hashes to learn whether any stone was changed.
    </p>
    <h2>The chain</h2>
    <p>
      A stone's <code>chainHash</code> is SHA-256 over <code>previousHash</code>, <code>sequence</code>,
      <code>commitment</code>, <code>witnessedAt</code> and <code>transaction</code>, with one NUL byte between them.
      Before the first stone stand 64 zeros. This program downloads the chain and recomputes it. It needs Python and
      nothing of ours. Save it as <code>check.py</code>.
    </p>
    ${block("A program that checks the chain", program)} ${block("How it is run", `python3 check.py ${publicUrl}`)}
    <p>Keep the last hash. A later check that no longer finds it shows that the past was rewritten.</p>
    <h2 id="words">The words of a stone</h2>
    <p><code>${recipe}</code></p>
    <p>With the salt and the words, compare this with the stone's commitment:</p>
    ${block("How a commitment is recomputed", `printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum`)}
    <h2 id="payments">The payments</h2>
    <p>
      Each stone names the transaction that paid for it. Look it up at a node or an explorer of your choice: it holds a
      transfer of one cent in USDC from the stone's payer. Its block shows when the stone existed.
    </p>
    <h2 id="file">One act, from a file</h2>
    <p>
      <a href="/v2/verify">Check a receipt or a proof</a> reads the file of one act, or the proof of any log, in your
      browser and offline.
    </p>
    <h2 id="command">With the command</h2>
    <p>The command <code>spirit-altar verify</code> does all of this. ${source(operator)}</p>
    ${block("The command", `spirit-altar verify --url ${publicUrl} --rpc URL-OF-A-NODE`)}
    <p>
      With <code>--rpc</code> it looks every payment up at that node. With <code>--log</code> it walks the transparency
      log.
    </p>
  </article>`,
})
