/** The status of the transparency log and the proof of one stone. The log is files below `/log/`. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Group } from "../Group.ts"
import { Count, header, patterned, sentence } from "../Fields.ts"
import { Timestamp, Url, Uuid } from "../Common.ts"
import { NotFound } from "../Errors.ts"
import { at, envelope, waiting, waits } from "../Refusal.ts"
import { BrokenChain } from "../altar/BrokenChain.ts"
import { AltarRequests, described, Unknown } from "../altar/Requests.ts"
import { WitnessNotFound } from "../altar/Witness.ts"

const origin = "altar.example/log"
const root = "RQkg425aKZaTFaEW6nyEJWplnO3gKn+hDoZj8+u99tY="
const checkpoint = `${origin}\n1\n${root}\n\n— ${origin} NcsZk94rcIk8V2Z+Pq7sQ7KGUMb57TaZk19rIFk7w1C5+tbDQ5UQu7/lVXKxJBq+0E1CdjUpChV+xId3ZtQ6Wzb2QAA=\n`

const lines = /^[^\p{Cs}\0-\x09\x0b-\x1f]*$/u

/** Text of a verifier key. */
export const VerifierKeyText = sentence(`${origin}+35cb1993+AX38dLo+FFJBIjLwTVIHBy+GqfPpoxYJ9dzRtV5EjnBd`, 400)

export const LogStatus = Schema.Struct({
  ok: Schema.Literal(true),
  origin: sentence(origin, 300).annotate({ description: "The name of the log, the first line of every checkpoint." }),
  vkey: VerifierKeyText.annotate({
    description:
      "The verifier key, name+hash+base64: keep it, and check every checkpoint with the one you kept. Its name is the origin.",
  }),
  url: Url.annotateKey({
    description: "The log's files (C2SP tlog-tiles) are below this.",
    examples: [`https://${origin}/`],
  }),
  state: Schema.Literals(["running", "waiting", "stopped"]).annotate({
    description:
      "`waiting` after a start, until a checkpoint file or a cosigner confirms the newest checkpoint, and `stopped` when the log would contradict itself. In both states no new entry is covered, and published files stay.",
  }),
  size: Count.annotateKey({ description: "The highest position that the newest checkpoint covers.", examples: [1] }),
  root: patterned(/^[A-Za-z0-9+/]{43}=$/u, 44).annotate({
    identifier: "RootHash",
    description: "Root hash of the tree of these entries, Base64.",
    examples: [root],
  }),
  publishedAt: Timestamp.annotateKey({
    description: "The time of its signature.",
    examples: ["2026-11-21T09:17:03.120Z"],
  }),
  checkpoint: sentence(checkpoint, 120_000, lines).annotate({
    description: "The newest checkpoint, a signed note, verbatim.",
  }),
}).annotate({
  identifier: "LogStatus",
  description: "The transparency log over the stones: its name, key and newest checkpoint.",
})

export const StoneProof = sentence(`c2sp.org/tlog-proof@v1\nindex 0\n\n${checkpoint}`, 130_000, lines).annotate({
  identifier: "StoneProof",
  description:
    "A `.tlog-proof` file (C2SP tlog-proof): index of the stone, its inclusion proof, and the signed checkpoint it leads to. With the stone and the log's verifier key it is checked offline, for ever.",
})

export class ProofNotReady extends Schema.Error<ProofNotReady>("ProofNotReady")(
  {
    ...envelope(
      "proof_not_ready",
      "No published checkpoint covers this yet. The act itself is settled.",
      "Ask again after the time in Retry-After. Do not pay again.",
    ),
    retryAfter: Schema.Literal(1).annotate({ description: "Seconds to wait before asking again." }),
  },
  at(409, "The log does not cover this yet."),
) {}

const NotReady = ProofNotReady.pipe(
  HttpApiSchema.encodeToWithHeaders({ body: ProofNotReady, headers: waits }, waiting()),
)

export class LogHalted extends Schema.Error<LogHalted>("LogHalted")(
  envelope(
    "log_stopped",
    "The transparency log is stopped until its operator resumes it, so no proof is available now. Acts are still sold and recorded.",
    "Ask again after the time in Retry-After. Do not pay again.",
  ),
  at(503, "The log is stopped.", 60),
) {}

/** An operator has to act, so a minute is soon enough. */
const Halted = LogHalted.pipe(HttpApiSchema.encodeToWithHeaders({ body: LogHalted, headers: waits }, waiting()))

const revalidated = { "cache-control": Schema.optionalKey(header("Revalidate before each use.", "no-cache")) }

export const readLog = HttpApiEndpoint.get("readLog", "/api/witness/log", {
  success: HttpApiSchema.WithHeaders(LogStatus, revalidated),
  error: [NotFound, NotReady, Halted],
}).annotateMerge(
  described(
    "The transparency log",
    "Origin, verifier key and newest checkpoint of the Merkle log over the stones. 404 where this server has no log.",
  ),
)

export const readStoneProof = HttpApiEndpoint.get("readStoneProof", "/api/witness/:witnessId/proof", {
  params: { witnessId: Uuid },
  success: StoneProof.pipe(HttpApiSchema.asText({ contentType: "text/plain" })),
  error: [NotFound, WitnessNotFound, NotReady, Halted, BrokenChain],
})
  .annotateMerge(
    described(
      "The proof of one stone",
      "A `.tlog-proof` file that proves offline that the log has the stone. 409 `proof_not_ready` until a checkpoint covers it. 404 `not_found` where this server has no log.",
    ),
  )
  .annotate(Unknown, () => new WitnessNotFound({}))

export const LogGroup: Group<"log", typeof readLog | typeof readStoneProof, AltarRequests> = HttpApiGroup.make("log")
  .add(readLog, readStoneProof)
  .middleware(AltarRequests)
  .annotateMerge(
    OpenApi.annotations({
      title: "Log",
      description: "The transparency log over the stones, and proofs out of it.",
    }),
  )
