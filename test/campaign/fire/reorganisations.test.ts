/** Reorganisations of a campaign's chain: under any concurrent strikes its final block stays, or the campaign reports its own fault. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CampaignFault, chain, type Chain, reorganiser } from "../../lab/OwnChain.ts"

describe("reorganisations", () => {
  let ground: Chain
  beforeAll(async () => {
    ground = await chain([], 0n)
    await ground.mine(10)
  })
  afterAll(() => ground.close())

  const blockAt = (blockTag: "latest" | "finalized") => ground.client.getBlock({ blockTag })
  const hashNow = async (blockNumber: bigint) => (await ground.client.getBlock({ blockNumber })).hash

  it("that overlap replace the newest block, and not the final one", async () => {
    const [latest, final] = [await blockAt("latest"), await blockAt("finalized")]
    await Promise.all(Array.from({ length: 3 }, () => ground.reorganise(2)))
    assert.strictEqual(await hashNow(final.number), final.hash)
    assert.notStrictEqual(await hashNow(latest.number), latest.hash)
  })

  it("end at the final block, however deep they are planned", async () => {
    const [latest, final] = [await blockAt("latest"), await blockAt("finalized")]
    await ground.reorganise(9)
    assert.strictEqual(await hashNow(final.number), final.hash)
    assert.notStrictEqual(await hashNow(final.number + 1n), latest.parentHash)
  })

  it("beyond the planned depth are reported as the campaign's own fault", async () => {
    const { client } = ground
    const tooMany = ({ method, params }: { readonly method: string; readonly params?: ReadonlyArray<number> }) =>
      client.request({ method, params: method === "anvil_rollback" ? [Number(params?.[0]) + 2] : params } as never)
    const reorganise = reorganiser({ ...client, request: tooMany as never })
    const fault: unknown = await reorganise(2).catch((cause: unknown) => cause)
    assert.instanceOf(fault, CampaignFault)
    assert.match(String(fault), /the final block \d+ was 0x\w+ and is (?:0x\w+|gone) after 2 blocks were taken back/u)
  })
})
