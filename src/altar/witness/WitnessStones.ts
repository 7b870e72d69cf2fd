/** Witness stones: the act that sets one, how stones are read, and their one free reveal. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { SqlClient } from "effect/sql"
import { recipe, zeroCommitment } from "../../../schema/altar/Commitment.ts"
import {
  AlreadyRevealed,
  WitnessCeilingToday,
  WitnessNotFound,
  WitnessNotSettled,
} from "../../../schema/altar/Witness.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { CommitmentMismatch, CommitmentRefused } from "../../../schema/altar/Commitment.ts"
import { normalizedLength } from "../../../schema/altar/Commitment.ts"
import { prices } from "../../../schema/payments/Prices.ts"
import { spiritOf } from "../../../schema/altar/Spirit.ts"
import {
  type ChainHead,
  type ListedStone,
  type RevealBody,
  WitnessBody,
  WitnessStone,
} from "../../../schema/altar/Witness.ts"
import { timestampOf } from "../../platform/Time.ts"
import { type PaidAct, paidAct } from "../../payments/PaidAct.ts"
import { currentReceipt, type ReceiptState } from "../../payments/Receipts.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { transaction } from "../../platform/Sql.ts"
import { pointsElsewhere } from "../Detector.ts"
import { seal } from "../Hashes.ts"
import { type ChainBroken, genesis } from "../HashChain.ts"
import { type Stone, stoneOf, type StoneRow, WitnessChain } from "./WitnessChain.ts"

/** Stones that may be set or held in one UTC day (altar.md, Limits). */
export const dailyCeiling = 5000

interface ListedRow extends StoneRow {
  readonly revealText: string | null
  readonly revealHidden: boolean | null
  readonly revealAgentName: string | null
  readonly revealedAt: Date | null
}

type Listed = typeof ListedStone.Type
type Head = typeof ChainHead.Type

type WitnessAct = PaidAct<CommitmentRefused | WitnessCeilingToday>

const encodeStone = Schema.encodeEffect(WitnessStone)

export class WitnessStones extends Context.Service<
  WitnessStones,
  {
    readonly act: WitnessAct
    /** Settled stones newest first, below `before` when given. */
    list(
      limit: number,
      before: number | undefined,
    ): Effect.Effect<
      { readonly stones: ReadonlyArray<Listed>; readonly head: Head; readonly next: number | null },
      SqlError.SqlError | ChainBroken
    >
    /** Settled stones of a spirit, or with a commitment or chain hash, newest first; each is re-hashed by itself. */
    find(
      by: { readonly spirit: string } | { readonly hash: string },
      limit: number,
    ): Effect.Effect<ReadonlyArray<Listed>, SqlError.SqlError | ChainBroken>
    /** A stone with the JSON text of its receipt, which says how its transfer stands now. */
    get(
      id: string,
    ): Effect.Effect<
      { readonly stone: Listed; readonly receipt: string },
      WitnessNotFound | SqlError.SqlError | ChainBroken
    >
    /** Stores salt and words when they hash to the commitment; `first` is false for the same data again. */
    reveal(
      id: string,
      body: typeof RevealBody.Type,
    ): Effect.Effect<
      { readonly stone: Listed; readonly first: boolean },
      | BadRequest
      | WitnessNotFound
      | WitnessNotSettled
      | CommitmentMismatch
      | AlreadyRevealed
      | SqlError.SqlError
      | ChainBroken
    >
  }
>()("spirit-altar/altar/witness/WitnessStones") {
  static readonly layer = Layer.effect(
    WitnessStones,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* WitnessChain
      const publicUrl = yield* PublicUrl

      const recordOf = (stone: Stone): WitnessStone => ({
        id: stone.id,
        permalink: `${publicUrl}/witness/${stone.id}`,
        commitment: stone.commitment,
        kind: kindOf(stone.kind),
        spirit: spiritNamed(stone.spirit, stone.commitment),
        witnessedAt: stone.witnessedAt,
        sequence: stone.sequence,
        chainHash: stone.chainHash,
        previousHash: stone.previousHash,
        payer: stone.payer,
        transaction: stone.transaction,
        verify: { recipe: `${recipe}; ${chainRecipe}`, revealUrl: `${publicUrl}/api/witness/${stone.id}/reveal` },
      })

      const act: WitnessAct = paidAct<typeof WitnessBody.Type, CommitmentRefused | WitnessCeilingToday>({
        ...prices.setWitnessStone,
        input: WitnessBody,
        bodyOptional: false,
        refuse: ({ commitment }) =>
          commitment === zeroCommitment ? Effect.fail(new CommitmentRefused({})) : Effect.void,
        claims: (_, { day }) => ({ slots: [], pool: { name: `witness:${day}`, capacity: dailyCeiling } }),
        lost: () => new WitnessCeilingToday({}),
        record: Effect.fn("WitnessStones.record")(function* (paid) {
          const stones = yield* chain.append(
            paid.map(({ id, input, payer, transaction: hash }) => ({
              id,
              commitment: input.commitment,
              kind: input.kind ?? "intention",
              spirit: input.spirit ?? spiritOf(input.commitment),
              agentName: input.agentName ?? null,
              payer,
              transaction: hash,
            })),
          )
          return yield* Effect.forEach(stones, (stone) =>
            Effect.map(encodeStone(recordOf(stone)), (record) => ({
              record: { ...record, verify: { ...record.verify } },
              path: `/witness/${stone.id}`,
              agentName: stone.agentName,
              at: stone.witnessedAt,
            })),
          )
        }),
      })

      const listed = (row: ListedRow): Listed => ({
        ...recordOf(stoneOf(row)),
        agentName: row.agentName,
        reveal:
          row.revealedAt === null
            ? null
            : {
                text: row.revealHidden === true ? null : row.revealText,
                hidden: row.revealHidden === true,
                agentName: row.revealAgentName,
                revealedAt: row.revealedAt.toISOString(),
              },
      })

      const stoneColumns = sql.literal(
        "s.*, r.text AS reveal_text, r.hidden AS reveal_hidden, r.agent_name AS reveal_agent_name, r.revealed_at",
      )

      const list = Effect.fn("WitnessStones.list")(function* (limit: number, before: number | undefined) {
        const rows = yield* sql<ListedRow & { headSequence: bigint; headHash: string }>`
          SELECT h.sequence AS head_sequence, h.chain_hash AS head_hash, s.*
          FROM witness_head h LEFT JOIN LATERAL (
            SELECT ${stoneColumns} FROM witness_stones s LEFT JOIN witness_reveals r ON r.stone_id = s.id
            WHERE s.sequence < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
            ORDER BY s.sequence DESC LIMIT ${limit}::int
          ) s ON true
          WHERE h.id = 1 ORDER BY s.sequence DESC`
        const found = rows.filter((row) => row.id !== null)
        const stones = found.map(stoneOf).reverse()
        const oldest = stones[0]
        if (oldest !== undefined) {
          yield* chain.check(stones, { sequence: oldest.sequence - 1, chainHash: oldest.previousHash })
        }
        const first = rows[0]
        return {
          stones: found.map(listed),
          head: first === undefined ? genesis : { sequence: Number(first.headSequence), chainHash: first.headHash },
          next: oldest !== undefined && oldest.sequence > 1 ? oldest.sequence : null,
        }
      })

      /** A stone alone proves its own link; the stones before it prove theirs. */
      const checkAlone = (stone: Stone) =>
        chain.check([stone], { sequence: stone.sequence - 1, chainHash: stone.previousHash })

      const find = Effect.fn("WitnessStones.find")(function* (
        by: { readonly spirit: string } | { readonly hash: string },
        limit: number,
      ) {
        const which =
          "spirit" in by
            ? sql`s.spirit = ${by.spirit}::text`
            : sql`(s.commitment = ${by.hash}::text OR s.chain_hash = ${by.hash}::text)`
        const rows = yield* sql<ListedRow>`
          SELECT ${stoneColumns} FROM witness_stones s LEFT JOIN witness_reveals r ON r.stone_id = s.id
          WHERE ${which} ORDER BY s.sequence DESC LIMIT ${limit}::int`
        yield* Effect.forEach(rows.map(stoneOf), checkAlone, { discard: true })
        return rows.map(listed)
      })

      const get = Effect.fn("WitnessStones.get")(function* (id: string) {
        const rows = yield* sql<ListedRow & ReceiptState & { receipt: string }>`
          SELECT ${stoneColumns}, a.receipt, p.rail, p.finality, p.current_transaction
          FROM witness_stones s JOIN acts a ON a.id = s.id JOIN payment_attempts p ON p.id = s.id
          LEFT JOIN witness_reveals r ON r.stone_id = s.id WHERE s.id = ${id}::uuid`
        const row = rows[0]
        if (row === undefined) return yield* new WitnessNotFound({})
        yield* checkAlone(stoneOf(row))
        return { stone: listed(row), receipt: currentReceipt(row.receipt, row) }
      })

      /** The 404 or 409 of an id that has no stone: is its payment still open? */
      const notThere = (id: string) =>
        sql<{ state: string }>`SELECT state FROM payment_attempts WHERE id = ${id}::uuid AND act = ${act.name}`.pipe(
          Effect.flatMap(([attempt]): Effect.Effect<never, WitnessNotSettled | WitnessNotFound> =>
            Effect.fail(attempt?.state === "pending" ? new WitnessNotSettled({}) : new WitnessNotFound({})),
          ),
        )

      const reveal = Effect.fn("WitnessStones.reveal")(function* (id: string, body: typeof RevealBody.Type) {
        const length = normalizedLength(body.text)
        if (length < 1 || length > 280) {
          return yield* new BadRequest({
            issues: [{ path: "text", message: `Expected 1 to 280 code points after normalization, got ${length}` }],
          })
        }
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const outcome = yield* transaction(
          sql,
          Effect.gen(function* () {
            const [stone] = yield* sql<{ commitment: string }>`
              SELECT commitment FROM witness_stones WHERE id = ${id}::uuid`
            if (stone === undefined) return yield* notThere(id)
            const [known] = yield* sql<{ salt: string; text: string }>`
              SELECT salt, text FROM witness_reveals WHERE stone_id = ${id}::uuid`
            const matches = seal(body.salt, body.text) === stone.commitment
            if (known !== undefined) {
              return matches && known.salt === body.salt ? false : yield* new AlreadyRevealed({})
            }
            if (!matches) return yield* new CommitmentMismatch({})
            const inserted = yield* sql`
              INSERT INTO witness_reveals (stone_id, salt, text, hidden, agent_name, revealed_at)
              VALUES (${id}::uuid, ${body.salt}, ${body.text}, ${pointsElsewhere(body.text)}, ${body.agentName ?? null},
                ${now}::timestamptz)
              ON CONFLICT (stone_id) DO NOTHING RETURNING stone_id`
            return inserted.length > 0
          }),
        )
        const { stone } = yield* get(id)
        return { stone, first: outcome }
      })

      return WitnessStones.of({ act, list, find, get, reveal })
    }),
  )
}

const chainRecipe =
  "chainHash = lowercase hex SHA-256( previousHash 0x00 sequence 0x00 commitment 0x00 witnessedAt 0x00 transaction ) in UTF-8; previousHash of the first stone is 64 zeros"

const isKind = Schema.is(WitnessStone.fields.kind)
const isSpirit = Schema.is(WitnessStone.fields.spirit)
const kindOf = (text: string) => (isKind(text) ? text : "intention")
const spiritNamed = (text: string, commitment: string) => (isSpirit(text) ? text : spiritOf(commitment))
