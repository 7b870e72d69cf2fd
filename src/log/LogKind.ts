/** The logs of a server: the word for an entry, and the tables of the tree. */
export interface LogKind {
  readonly noun: "stone" | "act"
  /** The row of the tree's head in `log_head`. */
  readonly head: 1 | 2
  readonly tiles: string
  readonly checkpoints: string
  /** The tables that the entries are made of. */
  readonly sources: string
  /** The end of the name of its checkpoint file, after LOG_CHECKPOINT_FILE. */
  readonly suffix: string
}

export const stones: LogKind = {
  noun: "stone",
  head: 1,
  tiles: "log_tiles",
  checkpoints: "log_checkpoints",
  sources: "witness_stones",
  suffix: "",
}

export const acts: LogKind = {
  noun: "act",
  head: 2,
  tiles: "log_act_tiles",
  checkpoints: "log_act_checkpoints",
  sources: "acts or payment_attempts",
  suffix: "-acts",
}
