/** The five tools: they read, recompute and prepare; none signs, pays or changes anything. */
import { Context, Effect, Layer, Schema } from "effect"
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

export class Tools extends Context.Service<Tools, ReadonlyMap<string, AgentTool>>()("spirit-altar/agents/Tools") {
  static readonly layer = Layer.effect(
    Tools,
    Effect.gen(function* () {
      const guide = yield* FieldGuide

      const tools: ReadonlyArray<AgentTool> = [
        agentTool({
          name: "field",
          title: "The state of the field",
          description:
            "Keepers, today's prayers, lit candles, stones, acts, cents settled, and the last settlement. Free.",
          input: Nothing,
          output: Field,
          run: () => guide.field,
        }),
        agentTool({
          name: "spirits",
          title: "The 24 spirits",
          description: "The field guide: all spirits with their keepers, or one with its page. Free.",
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
            "Today's prayer slot, the keeper, and how many candles and collectibles, of all altars; of one with its candles. Free.",
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
    }),
  )
}
