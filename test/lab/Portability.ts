/** Features of PostgreSQL that compatible engines lack, found in the syntax tree of its own parser. */
import { loadModule, parseSync } from "libpg-query"

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Names of a function, column or type, such as `pg_catalog.nextval`. */
const namesIn = (list: unknown): ReadonlyArray<string> =>
  Array.isArray(list)
    ? list.map((one: unknown) => (isTree(one) && isTree(one["String"]) ? textOf(one["String"]["sval"]) : ""))
    : []

const systemColumns = new Set(["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"])
const sequenceFunctions = new Set(["nextval", "currval", "setval", "lastval"])
const serialTypes = new Set(["serial", "bigserial", "smallserial", "serial2", "serial4", "serial8"])

/** By kind of node: the fault of one, or undefined. */
const rules: Readonly<Record<string, (node: Tree) => string | undefined>> = {
  LockStmt: () => "LOCK TABLE",
  ListenStmt: () => "LISTEN",
  UnlistenStmt: () => "LISTEN",
  NotifyStmt: () => "NOTIFY",
  TransactionStmt: ({ kind }) =>
    /SAVEPOINT|ROLLBACK_TO|RELEASE/u.test(textOf(kind))
      ? "a savepoint"
      : /PREPARE/u.test(textOf(kind).replace(/^TRANS_STMT_/u, ""))
        ? "a transaction in two phases"
        : undefined,
  FuncCall: ({ funcname }) => {
    const name = namesIn(funcname).at(-1) ?? ""
    if (/^pg_(?:try_)?advisory/u.test(name)) return "an advisory lock"
    if (name === "pg_notify") return "NOTIFY"
    return sequenceFunctions.has(name) ? "a sequence" : undefined
  },
  ColumnRef: ({ fields }) => (systemColumns.has(namesIn(fields).at(-1) ?? "") ? "a system column" : undefined),
  Constraint: ({ contype, deferrable }) => {
    if (contype === "CONSTR_IDENTITY") return "a sequence"
    return deferrable === true || contype === "CONSTR_ATTR_DEFERRABLE" ? "a deferrable constraint" : undefined
  },
  ConstraintsSetStmt: () => "a deferrable constraint",
  CreateSeqStmt: () => "a sequence",
  TypeName: ({ names }) => (serialTypes.has(namesIn(names).at(-1) ?? "") ? "a sequence" : undefined),
  InferClause: ({ indexElems }) =>
    Array.isArray(indexElems) &&
    indexElems.some((one: unknown) => isTree(one) && isTree(one["IndexElem"]) && one["IndexElem"]["expr"] !== undefined)
      ? "ON CONFLICT on an expression"
      : undefined,
  CreateTrigStmt: () => "a trigger",
  DoStmt: () => "a procedural language",
  VariableSetStmt: ({ is_local, kind, name }) =>
    kind === "VAR_SET_VALUE" && is_local !== true ? `${textOf(name)} set for a session` : undefined,
  RangeVar: ({ relpersistence }) => (relpersistence === "t" ? "a temporary table" : undefined),
  DeclareCursorStmt: () => "a cursor",
  PrepareStmt: () => "a statement prepared by name in SQL",
}

/** The language and the body of a function that is made. */
const functionOf = ({ options }: Tree) => {
  const defined = (name: string): unknown =>
    Array.isArray(options)
      ? options
          .map((one: unknown) => (isTree(one) && isTree(one["DefElem"]) ? one["DefElem"] : {}))
          .find((one: Tree) => one["defname"] === name)?.["arg"]
      : undefined
  const language = defined("language")
  const body = defined("as")
  const items = isTree(body) && isTree(body["List"]) ? body["List"]["items"] : undefined
  return {
    language: isTree(language) && isTree(language["String"]) ? textOf(language["String"]["sval"]) : "sql",
    body: namesIn(items)[0] ?? "",
  }
}

const changes = new Set(["InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"])

/** Each table that a statement changes, once for each part of it that does. */
const changedIn = (tree: unknown): ReadonlyArray<string> => {
  if (Array.isArray(tree)) return tree.flatMap(changedIn)
  if (!isTree(tree)) return []
  return Object.entries(tree).flatMap(([kind, node]) => {
    const relation = changes.has(kind) && isTree(node) ? node["relation"] : undefined
    return [...(isTree(relation) ? [textOf(relation["relname"])] : []), ...changedIn(node)]
  })
}

const foundIn = (tree: unknown): ReadonlyArray<string> => {
  if (Array.isArray(tree)) return tree.flatMap(foundIn)
  if (!isTree(tree)) return []
  return Object.entries(tree).flatMap(([kind, node]) => {
    if (!isTree(node)) return []
    const found = rules[kind === "infer" ? "InferClause" : kind]?.(node)
    const own = found === undefined ? [] : [found]
    // A table that is created stands bare, without the name of its kind.
    if (kind === "relation" || kind === "typeName")
      own.push(...foundIn({ [kind === "relation" ? "RangeVar" : "TypeName"]: node }))
    if (kind !== "CreateFunctionStmt") return [...own, ...foundIn(node)]
    const { body, language } = functionOf(node)
    return language === "sql" ? [...own, ...violationsOf(body)] : [...own, "a procedural language"]
  })
}

await loadModule()

/** The features of one or more statements that engines may lack; throws where it is no SQL. */
export const violationsOf = (sql: string): ReadonlyArray<string> => {
  const { stmts } = parseSync(sql)
  return [
    ...new Set(
      (stmts ?? []).flatMap(({ stmt }) => {
        const changed = changedIn(stmt)
        const twice = changed.filter((table, at) => changed.indexOf(table) !== at)
        return [...foundIn(stmt), ...twice.map((table) => `${table} changed twice in a statement`)]
      }),
    ),
  ]
}

/** The same in a source, where a statement may have holes: words that only SQL writes. */
const words: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bLOCK TABLE\b/u, "LOCK TABLE"],
  [/\bpg_(?:try_)?advisory/iu, "an advisory lock"],
  [/(?<![A-Z_])(?:UN)?LISTEN [a-z"$]/u, "LISTEN"],
  [/\bpg_notify\b|(?<![A-Z_])NOTIFY [a-z"$]/u, "NOTIFY"],
  [/\bctid\b|\bxmin\b/u, "a system column"],
  [/\bSAVEPOINT\b/u, "a savepoint"],
  [/\bDEFERRABLE\b|\bSET CONSTRAINTS\b/u, "a deferrable constraint"],
  [
    /\b(?:nextval|setval|currval)\b|\b(?:big|small)?serial\b(?= (?:PRIMARY|NOT|,))|\bCREATE SEQUENCE\b|GENERATED (?:ALWAYS|BY DEFAULT) AS IDENTITY/iu,
    "a sequence",
  ],
  [/\bON CONFLICT \((?![a-z_, ]+\))/u, "ON CONFLICT on an expression"],
  [/\bplpgsql\b|(?<![\w$])DO \$\$/iu, "a procedural language"],
  [/\bCREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b/u, "a trigger"],
  [/\bTEMP(?:ORARY)? TABLE\b/u, "a temporary table"],
]

/** Comments speak of what is not done: they are left out. */
const code = (source: string) => source.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`])\/\/[^\n]*/gu, "")

export const wordsIn = (source: string): ReadonlyArray<string> =>
  words.flatMap(([pattern, what]) => (pattern.test(code(source)) ? [what] : []))
