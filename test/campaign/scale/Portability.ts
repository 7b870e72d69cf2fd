/** Features of PostgreSQL that compatible engines lack, by the words that only SQL writes for them. */

const words: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bLOCK TABLE\b/u, "LOCK TABLE"],
  [/\bpg_(?:try_)?advisory/iu, "an advisory lock"],
  [/(?<![A-Z_])(?:UN)?LISTEN [a-z"$]/u, "LISTEN"],
  [/\bpg_notify\b|(?<![A-Z_])NOTIFY [a-z"$]/u, "NOTIFY"],
  [/\bctid\b|\b[xc](?:min|max)\b|\btableoid\b/u, "a system column"],
  [/\bSAVEPOINT\b/u, "a savepoint"],
  [/\b(?:PREPARE TRANSACTION|COMMIT PREPARED)\b/u, "a transaction in two phases"],
  [/\bDEFERRABLE\b|\bSET CONSTRAINTS\b/u, "a deferrable constraint"],
  [
    /\b(?:nextval|setval|currval|lastval)\b|\b(?:big|small)?serial\b(?= (?:PRIMARY|NOT|,))|\bCREATE SEQUENCE\b|GENERATED (?:ALWAYS|BY DEFAULT) AS IDENTITY/iu,
    "a sequence",
  ],
  [/\bON CONFLICT \((?![a-z_, ]+\))/u, "ON CONFLICT on an expression"],
  [/\bplpgsql\b|(?<![\w$])DO \$\$/iu, "a procedural language"],
  [/\bCREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b/u, "a trigger"],
  [/\bTEMP(?:ORARY)? TABLE\b/u, "a temporary table"],
  [/\bDECLARE \w+ (?:\w+ )*CURSOR\b/u, "a cursor"],
]

/** Comments speak of what is not done: they are left out. */
const code = (source: string) => source.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`])\/\/[^\n]*/gu, "")

/** Those in a source, where a statement may have holes. */
export const wordsIn = (source: string): ReadonlyArray<string> =>
  words.flatMap(([pattern, what]) => (pattern.test(code(source)) ? [what] : []))

/** Those in a whole statement, which may also set something for its session or change a table twice. */
export const violationsOf = (statement: string): ReadonlyArray<string> => {
  const [, name] = /^\s*SET (?!TRANSACTION|LOCAL)(?:SESSION )?(\w+)/u.exec(statement) ?? []
  const twice = statement.split(";").flatMap((one) => {
    const changed = [...one.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) "?([a-z_]+)/gu)]
    return changed.map(([, table]) => table).filter((table, at, all) => all.indexOf(table) !== at)
  })
  const all = [...wordsIn(statement), ...twice.map((table) => `${table} changed twice in a statement`)]
  return name === undefined ? all : [...all, `${name} set for a session`]
}
