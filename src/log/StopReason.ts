/** The reasons why a log stops, as stored and shown. Each has its own advice for the operator. */
import { Schema } from "effect"

const { Number, String } = Schema

const beginning = ["the first ", Number, " stones of the log are not those that "] as const

/** Signed stones are missing from this database, according to one of the records kept elsewhere. */
const backup = Schema.Union([
  Schema.TemplateLiteral([
    String,
    " covers ",
    Number,
    " stones, but this database has ",
    Number,
    " in its log: a backup was restored, or this is another database",
  ]),
  Schema.TemplateLiteral([...beginning, "the checkpoint this server signed last covers"]),
  Schema.TemplateLiteral([...beginning, "the largest checkpoint this server has seen covers"]),
  Schema.TemplateLiteral([...beginning, "the checkpoint that the log witness ", String, " holds covers"]),
])

const checkpoints = Schema.Union([
  Schema.TemplateLiteral([...beginning, "the published checkpoint covers"]),
  Schema.TemplateLiteral(["the checkpoint of ", Number, " stones is not as signed"]),
  Schema.Literal("the published checkpoint is not as this server's key would sign it"),
])

const tiles = Schema.Union([
  Schema.TemplateLiteral(["the tiles above stone ", Number, " are not those of the published checkpoint"]),
  Schema.TemplateLiteral(["the tiles of the ", Number, " stones of the log do not have the root it was built with"]),
  Schema.TemplateLiteral(["the tiles behind stone ", Number, " are not as the log left them"]),
])

const entries = Schema.Union([
  Schema.TemplateLiteral(["the log holds ", Number, " stones, but there are only ", Number]),
  Schema.TemplateLiteral(["stones from ", Number, " to ", Number, " are not those that the log holds"]),
  Schema.TemplateLiteral(["stone ", Number, " is not the one that the log holds"]),
  Schema.TemplateLiteral(["the chain is broken: ", String]),
])

export const StopReason = Schema.Union([backup, checkpoints, tiles, entries])
export type StopReason = typeof StopReason.Type

/** The object to inspect: a whole database, or tables of the log. */
export type InspectionTarget = "backup" | "checkpoints" | "tiles" | "sources"

const suspects = [
  ["backup", Schema.is(backup)],
  ["checkpoints", Schema.is(checkpoints)],
  ["tiles", Schema.is(tiles)],
  ["sources", Schema.is(entries)],
] as const

/** Maps a stored reason to its suspect; undefined for reasons of another version. */
export const inspectionTargetOf = (reason: string): InspectionTarget | undefined =>
  suspects.find(([, is]) => is(reason))?.[0]
