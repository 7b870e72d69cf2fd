/** The five tools: they read, recompute and prepare; none signs, pays or changes anything. */
import { Context, Effect, Layer, Schema } from "effect"
import { AltarList, Field, SpiritList } from "../../schema/altar/Guide.ts"
import { SpiritId } from "../../schema/altar/Spirit.ts"
import { FieldGuide } from "../altar/guide/FieldGuide.ts"
import { type AgentTool, agentTool } from "./AgentTool.ts"
import { buyKit } from "./BuyKit.ts"
import { verifyWitness } from "./VerifyWitness.ts"

const Nothing = Schema.Record(Schema.String, Schema.Never)

const OneOrAll = Schema.Struct({
  spirit: Schema.optionalKey(SpiritId).annotateKey({ description: "One spirit; all 24 when absent." }),
})

const isAsked = (id: string, spirit: string | undefined) => spirit === undefined || id === spirit

/** The tools by name, in the order they are listed. */
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
          description: "The field guide: every spirit with its page and its keeper, or one of them. Free.",
          input: OneOrAll,
          output: SpiritList,
          run: ({ spirit }) =>
            Effect.map(guide.spirits, (all) => ({
              ...all,
              spirits: all.spirits.filter(({ id }) => isAsked(id, spirit)),
            })),
        }),
        agentTool({
          name: "altar",
          title: "An altar as it stands now",
          description:
            "Today's prayer slot, the keeper, the lit candles and the dedicated collectibles of one altar, or of all. Free.",
          input: OneOrAll,
          output: AltarList,
          run: ({ spirit }) =>
            Effect.map(guide.altars, (all) => ({
              ...all,
              altars: all.altars.filter((altar) => isAsked(altar.spirit, spirit)),
            })),
        }),
        yield* buyKit,
        yield* verifyWitness,
      ]
      return new Map(tools.map((tool) => [tool.definition.name, tool]))
    }),
  )
}
