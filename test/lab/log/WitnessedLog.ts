/** A log whose servers ask witnesses, and its notes as readers open them. */
import { Effect, Layer } from "effect"
import { openCheckpoint } from "../../../src/buyer/log/SignedCheckpoint.ts"
import { LogStore } from "../../../src/log/LogStore.ts"
import { PublishedLog } from "../../../src/log/PublishedLog.ts"
import type { Witnesses } from "../../../src/log/Witnesses.ts"
import { newest, origin, publish, server, sharedMemory, signer } from "./LogFixture.ts"
import { type cosignerOf, policyOf, witnessesOf } from "./Witnesses.ts"

type Named = Parameters<typeof policyOf>[0][number]

interface Asking {
  readonly quorum?: string
  readonly waitsMs?: number
  readonly lastSigned?: typeof sharedMemory
}

/** Runs `use` on a server that asks these witnesses. */
export const withWitnesses = <A, E, R>(
  witnesses: ReadonlyArray<Named>,
  use: Effect.Effect<A, E, R>,
  { lastSigned = sharedMemory, quorum = "all", waitsMs }: Asking = {},
) => Effect.provide(use, server(256, lastSigned, undefined, witnessesOf(policyOf(witnesses, quorum), waitsMs)))

export const published = Effect.andThen(publish, newest)

/** The signature line that a request to a witness asks for. */
export const lineOf = (cosigner: ReturnType<typeof cosignerOf>, body: string) =>
  cosigner.line(`${body.slice(body.indexOf("\n\n") + 2).split("\n\n")[0]}\n`, 1_700_000_000)

export const open = (note: string, witnesses: ReadonlyArray<Named>, quorum = "all") =>
  Effect.promise(() => openCheckpoint(note, { vkey: signer.vkey, witnesses: policyOf(witnesses, quorum) }))

/** The names of the witnesses whose signatures under the note hold, or why it does not open. */
export const signersOf = (note: string, witnesses: ReadonlyArray<Named>, quorum = "all") =>
  Effect.map(open(note, witnesses, quorum), (opened) =>
    opened.ok ? opened.cosignatures.map(({ name }) => name) : [opened.reason],
  )

/** The published log of a server that trusts these witnesses. */
export const publishedBy = (lines: Layer.Layer<Witnesses>) =>
  Layer.fresh(PublishedLog.layer({ origin, signer }).pipe(Layer.provide([LogStore.layer, lines])))
