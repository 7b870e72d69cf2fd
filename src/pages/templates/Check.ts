/** `/verify`: the one place to check a receipt, a proof, a file or words, and how to check without this server. */
import { recipe } from "../../../schema/altar/Recipe.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import { type Html, html } from "../../platform/Html.ts"
import { opening, type Page, section } from "./Layout.ts"
import { textField } from "./Offer.ts"
import { wordsForm } from "./Seal.ts"

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

const block = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre> `

const byHand = ({ publicUrl }: CheckView): Html =>
  html`<div class="prose">
    <h3 id="chain">The chain</h3>
    <p>
      A stone's <code>chainHash</code> is the SHA-256 of <code>previousHash</code>, <code>sequence</code>,
      <code>commitment</code>, <code>witnessedAt</code> and <code>transaction</code>, with one NUL byte between them.
      The first stone follows 64 zeros. This program downloads the chain and recomputes it. It needs only Python. Save
      it as <code>check.py</code>.
    </p>
    ${block("A program that checks the chain", program)} ${block("How to run it", `python3 check.py ${publicUrl}`)}
    <p>Keep the last hash. If a later check no longer finds it, the past was rewritten.</p>
    <h3 id="recipe">The words of a stone</h3>
    <p><code>${recipe}</code></p>
    <p>With the salt and the words, compare this with the stone's commitment:</p>
    ${block("How to recompute a commitment", `printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum`)}
    <h3 id="payments">The payments</h3>
    <p>
      Each stone names the transaction that paid for it. Look it up at a node or an explorer of your choice: it holds a
      transfer of one cent in USDC from the stone's payer. Its block shows when the stone existed.
    </p>
    <h3 id="command">With the command</h3>
    <p>
      The command <code>spirit-altar verify</code> does all of this. It comes with this server's software. Ask its
      operator for it.
    </p>
    ${block("The command", `spirit-altar verify --url ${publicUrl} --rpc URL-OF-A-NODE`)}
    <p>
      With <code>--rpc</code> it looks up every payment at that node. With <code>--log</code> it checks the transparency
      log. <code>verify --receipt FILE</code> checks one receipt, and <code>verify-proof FILE</code> a proof of any log.
    </p>
  </div>`

export const checkPage = (view: CheckView): Page => ({
  title: "Check",
  description: "Check a receipt, a log proof, a file or sealed words in your own browser, or without this server.",
  path: "/verify",
  chapter: "none",
  preview: "stones",
  body: html`${opening(
      "Check",
      "Drop a receipt file, a log proof, or the file that a stone was set of. Your browser checks it; the file is not sent.",
    )}
    <section
      id="checker"
      aria-label="Check a file"
      data-checker
      data-keys="${JSON.stringify(view.keys)}"
      data-logs="${JSON.stringify(view.logs)}"
    >
      <p class="unscripted notice">
        This needs script. The command does the same: <code>spirit-altar verify --receipt FILE</code>.
      </p>
      <div class="scripted column">
        ${textField("checker-file", "The file", html`type="file" data-file`, "Choose it, or drop it anywhere on this page.", "take")}
        <div role="status"></div>
        <ol class="checks" role="list" aria-label="The checks"></ol>
        <p class="small quiet">
          Holds: computed in this browser, and right. Broken: computed, and wrong. Not checked: neither, and the line
          says why.
        </p>
      </div>
    </section>
    ${section("words", "Words", "Nothing you type here is sent.", wordsForm(""))}
    ${section("yourself", "Check it yourself", "Without this server's word, and without its code.", byHand(view))}`,
})
