/** The five tools: they read, recompute and prepare; none signs, pays or changes anything. */
import { Effect, Schema } from "effect"
import { Altars, briefAltar, briefSpirit, Spirits } from "../../schema/agents/Overview.ts"
import { Field } from "../../schema/altar/Guide.ts"
import { SpiritId } from "../../schema/altar/Spirit.ts"
import { FieldGuide } from "../altar/guide/FieldGuide.ts"
import { type AgentTool, agentTool } from "./AgentTool.ts"
import { buyKit } from "./BuyKit.ts"
import { verifyWitness } from "./VerifyWitness.ts"

const Nothing = Schema.Record(Schema.String, Schema.Never)

const OneOrAll = Schema.Struct({
  spirit: Schema.optionalKey(SpiritId).annotateKey({ description: "One, in full; all 24 in brief when absent." }),
})

export const make = Effect.gen(function* () {
  const guide = yield* FieldGuide

  const tools: ReadonlyArray<AgentTool> = [
    agentTool({
      name: "field",
      title: "The state of the field",
      description:
        "Counts the whole altar: keepers, today's prayers, lit candles, stones, acts, cents settled, and the last settlement. Use it for an overview. Free.",
      input: Nothing,
      output: Field,
      run: () => guide.field,
    }),
    agentTool({
      name: "spirits",
      title: "The 24 spirits",
      description:
        "Lists the 24 animal spirits with their ids and keepers, or one in full. Use it to find the id that other tools take. Free.",
      input: OneOrAll,
      output: Spirits,
      run: ({ spirit }) =>
        Effect.map(guide.spirits, ({ ok, spirits }): typeof Spirits.Type => ({
          ok,
          spirits: spirit === undefined ? spirits.map(briefSpirit) : spirits.filter(({ id }) => id === spirit),
        })),
    }),
    agentTool({
      name: "altar",
      title: "An altar as it stands now",
      description:
        "Shows each altar now: whether today's prayer slot is taken, its keeper, its candles and collectibles; one altar also lists its lit candles. Use it before a purchase to see what is still free. Free.",
      input: OneOrAll,
      output: Altars,
      run: ({ spirit }) =>
        Effect.map(guide.altars, ({ altars, day, ok }): typeof Altars.Type => ({
          ok,
          day,
          altars: spirit === undefined ? altars.map(briefAltar) : altars.filter((altar) => altar.spirit === spirit),
        })),
    }),
    yield* buyKit,
    yield* verifyWitness,
  ]
  return new Map(tools.map((tool) => [tool.definition.name, tool]))
})
