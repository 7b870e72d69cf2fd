/** Checks the log in this browser: a stone's proof, and that the log only grew since the last visit. */
import { equal, Malformed } from "../../../../schema/log/Bytes.ts"
import { parseProofFile } from "../../../../schema/log/ProofFile.ts"
import { type Tile, tilePath } from "../../../../schema/log/Tile.ts"
import type { Tree } from "../../../buyer/log/MerkleProofs.ts"
import { openCheckpoint } from "../../../buyer/log/SignedCheckpoint.ts"
import { verifyProof } from "../../../buyer/log/StoneProof.ts"
import { rootAt } from "../../../buyer/log/Tiles.ts"
import type { NotProven } from "../../../buyer/log/Verdict.ts"
import { button, make, verdict } from "../page/dom.ts"
import { timeWords } from "../page/durations.ts"
import { part, AnswerError, unreachable } from "../page/http.ts"
import { browser } from "../page/store.ts"

/** This browser's memory of a log: the first key shown, and the newest trusted checkpoint. */
interface Seen {
  readonly vkey: string
  readonly note: string
  /** Milliseconds since 1970. */
  readonly at: number
}

const slot = "altar:log"

const stones = (size: number) => `${size} ${size === 1 ? "stone" : "stones"}`

const dateOf = (at: number) => timeWords(new Date(at).toISOString())

const seen = (): Seen | undefined => {
  const kept = browser.json(slot)
  const [vkey, note, at] = [part(kept, "vkey"), part(kept, "note"), part(kept, "at")]
  return typeof vkey === "string" && typeof note === "string" && typeof at === "number" ? { vkey, note, at } : undefined
}

const keep = (vkey: string, note: string) => browser.set(slot, JSON.stringify({ vkey, note, at: Date.now() }))

const broken = (word: string, ...more: ReadonlyArray<Node | string>) => [verdict("broken", word, ...more)]

/** An unsupported check is neither right nor wrong. */
const refused = ({ fault, reason }: NotProven) =>
  fault === "unsupported" ? [verdict("unchecked", "Cannot check here.", reason)] : broken("Not proved.", reason)

const otherKey = (before: Seen, vkey: string) => [
  ...broken(
    "Another key.",
    `On ${dateOf(before.at)} this log signed with another key than the one on this page. A log keeps its key; unless its operator announced a new one, do not believe it.`,
  ),
  make(
    "p",
    {},
    "Then: ",
    make("code", { class: "long" }, before.vkey),
    " Now: ",
    make("code", { class: "long" }, vkey),
  ),
]

const read = async (path: string): Promise<Response> => {
  const answer = await fetch(path, { cache: "no-store" }).catch(() => undefined)
  if (answer === undefined) throw new AnswerError(unreachable())
  return answer
}

const readTile = async (tile: Tile) => {
  const file = await read(`/log/${tilePath(tile)}`)
  if (file.status !== 200) throw new AnswerError(`The altar answered ${file.status} for a tile of its log.`)
  return new Uint8Array(await file.arrayBuffer())
}

/** Compares two trees by the served tiles. Missing or wrong tiles prove nothing. */
const wayBetween = async (old: Tree, tree: Tree): Promise<"continues" | "differs" | "unknown"> => {
  if (old.size === 0) return "continues"
  const root = await rootAt(old.size, tree, readTile).catch(() => undefined)
  if (root === undefined) return "unknown"
  return equal(root, old.root) ? "continues" : "differs"
}

const forgetting = (checkAgain: () => void) =>
  make(
    "p",
    { class: "doors" },
    button("Forget what this browser saw", () => {
      browser.remove(slot)
      checkAgain()
    }),
  )

type Compared =
  | { readonly ok: false; readonly findings: ReadonlyArray<Node> }
  /** Both belong to one history; `old` is the tree seen before, empty where there was none. */
  | { readonly ok: true; readonly now: Tree; readonly old: Tree; readonly isOlder: boolean }

/** Whether a checkpoint and the remembered one belong to one history, in either order. */
const compare = async (
  before: Seen | undefined,
  note: string,
  vkey: string,
  checkAgain: () => void,
): Promise<Compared> => {
  const not = (findings: ReadonlyArray<Node>): Compared => ({ ok: false, findings })
  const opened = await openCheckpoint(note, { vkey })
  if (!opened.ok) return not(refused(opened))
  const now: Tree = opened.checkpoint
  if (before === undefined) return { ok: true, now, old: { size: 0, root: new Uint8Array() }, isOlder: false }
  const earlier = await openCheckpoint(before.note, { vkey })
  if (!earlier.ok) return not([...refused(earlier), forgetting(checkAgain)])
  const old: Tree = earlier.checkpoint
  // A stale cache may answer with an older checkpoint.
  const isOlder = old.size > now.size
  const way = await (isOlder ? wayBetween(now, old) : wayBetween(old, now))
  if (way === "continues") return { ok: true, now, old, isOlder }
  const on = dateOf(before.at)
  const both = `On ${on} this browser saw a checkpoint over ${stones(old.size)}, and this one is over ${stones(now.size)}.`
  const says =
    way === "differs"
      ? [
          verdict("broken", "The history was rewritten.", `${both} They do not begin with the same stones.`),
          make("p", {}, "Both checkpoints are signed with the log's key. Together they prove it: keep both."),
        ]
      : [
          verdict(
            "unchecked",
            "Not comparable.",
            `${both} The altar does not show that one continues the other, so nothing is proved either way.`,
          ),
          make("p", {}, "An old copy may have answered. Keep both checkpoints, and check again later."),
        ]
  return not([
    ...says,
    make("pre", { class: "long" }, before.note),
    make("pre", { class: "long" }, note),
    forgetting(checkAgain),
  ])
}

/** Checks the proof of the page's stone against the named key and this browser's memory of the log. */
const checkProof = async (root: HTMLElement, checkAgain: () => void): Promise<ReadonlyArray<Node>> => {
  const { proof = "", stone = "", vkey = "" } = root.dataset
  const before = seen()
  if (before !== undefined && before.vkey !== vkey) return otherKey(before, vkey)
  const answer = await read(proof)
  const text = await answer.text()
  if (answer.status === 409)
    return [
      verdict(
        "unchecked",
        "Not covered yet.",
        `The next checkpoint will; try in ${answer.headers.get("retry-after") ?? "10"} s.`,
      ),
    ]
  if (answer.status !== 200) return broken("No proof.", `The altar answered ${answer.status}.`)
  const verdictOf = await verifyProof(text, JSON.parse(stone), { vkey })
  if (!verdictOf.ok) return refused(verdictOf)
  // The proof's tree may be one that others never saw, so this browser's memory must lead to it, too.
  const file = parseProofFile(text)
  if (file instanceof Malformed) return broken("Not proved.", file.message)
  const compared = await compare(before, file.checkpoint, vkey, checkAgain)
  if (!compared.ok) return compared.findings
  if (!compared.isOlder) keep(vkey, file.checkpoint)
  return [
    verdict(
      "holds",
      "The log has this stone.",
      `The checkpoint of ${verdictOf.origin} over ${stones(verdictOf.size)} is signed with its key, and the tree it names holds the stone this page shows.`,
    ),
    ...(before === undefined
      ? []
      : [make("p", {}, `It is of the same history that this browser saw on ${dateOf(before.at)}.`)]),
    make(
      "p",
      { class: "quiet" },
      "Checked in this browser. Keep the file and the key: together with the stone they prove the same for ever.",
    ),
  ]
}

/** The cosigners by the keys that the page names, and those whose signatures this browser cannot check. */
const cosigners = async (note: string, vkey: string, witnesses: string): Promise<ReadonlyArray<Node>> => {
  const vkeys = witnesses.split(" ").filter((key) => key !== "")
  const signed = await openCheckpoint(note, { vkey, witnesses: { vkeys, quorum: 0 } })
  if (!signed.ok) return refused(signed)
  const { cosignatures } = signed
  const names = cosignatures.map(({ name }) => name).join(", ")
  return names === "" ? [] : [verdict("holds", "Cosigned.", `The signatures of ${names} are right.`)]
}

/** Checks that the newest checkpoint continues the remembered one, and then remembers the newest. */
const checkLog = async (root: HTMLElement, checkAgain: () => void): Promise<ReadonlyArray<Node>> => {
  const { vkey = "", witnesses = "" } = root.dataset
  const before = seen()
  if (before !== undefined && before.vkey !== vkey) return [...otherKey(before, vkey), forgetting(checkAgain)]
  const answer = await read("/log/checkpoint")
  if (answer.status !== 200) return broken("No checkpoint.", `The altar answered ${answer.status}.`)
  const note = await answer.text()
  const compared = await compare(before, note, vkey, checkAgain)
  if (!compared.ok) return compared.findings
  const { isOlder, now, old } = compared
  const signers = await cosigners(note, vkey, witnesses)
  if (before !== undefined && isOlder)
    return [
      verdict(
        "unchecked",
        "Older, not rewritten.",
        `This checkpoint is over ${stones(now.size)}, and on ${dateOf(before.at)} this browser saw ${old.size}, which begin with these: a cache or proxy on the way shows an old copy. Try again in a minute.`,
      ),
    ]
  keep(vkey, note)
  if (before === undefined)
    return [
      verdict("holds", "Signed.", `The checkpoint over ${stones(now.size)} is signed with this key.`),
      ...signers,
      make(
        "p",
        { class: "quiet" },
        browser.lasts(slot)
          ? "This browser sees the log for the first time and remembers it: the next check compares."
          : "This browser keeps nothing, so there will be nothing to compare with.",
      ),
    ]
  return [
    verdict(
      "holds",
      "It only grew.",
      `${stones(now.size)}, of which the first ${old.size} are those it had on ${dateOf(before.at)}.`,
    ),
    ...signers,
    make(
      "p",
      { class: "quiet" },
      "Both checkpoints are signed with this key; that the newer one continues the older was computed in this browser.",
    ),
  ]
}

/** Runs the check of its button. */
export const check = (root: HTMLElement, again: () => void): Promise<ReadonlyArray<Node>> =>
  root.dataset["proof"] === undefined ? checkLog(root, again) : checkProof(root, again)
