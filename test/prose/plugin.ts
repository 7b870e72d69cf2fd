/** Rules of oxlint: comments and messages (`plain`) and titles of tests (`titles`) are plain prose. */
import { faultsOf } from "./Sentences.ts"

interface Comment {
  readonly type: string
  readonly value: string
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } }
}

interface Node {
  readonly type: string
  readonly value?: unknown
  readonly quasis?: ReadonlyArray<{ readonly value: { readonly cooked: string } }>
  readonly callee?: Node & { readonly name?: string; readonly object?: Node & { readonly name?: string } }
  readonly arguments?: ReadonlyArray<Node>
}

interface Context {
  readonly sourceCode: { readonly getAllComments: () => ReadonlyArray<Comment> }
  readonly report: (found: { readonly node: Comment | Node; readonly message: string }) => void
}

interface Passage {
  readonly at: Comment
  readonly text: string
}

const isDirective = (text: string) => /^\s*(?:@|oxlint|eslint|v8|\/)/u.test(text)

/** Line comments on consecutive lines are one passage. */
const passagesOf = (comments: ReadonlyArray<Comment>): ReadonlyArray<Passage> => {
  const passages: Array<{ at: Comment; text: string; last: Comment }> = []
  for (const comment of comments) {
    const text = comment.value.replace(/^\*+/u, "").replaceAll(/\n\s*\* ?/gu, "\n")
    const before = passages.at(-1)
    const goesOn = before?.last.type === "Line" && before.last.loc.end.line + 1 === comment.loc.start.line
    if (before !== undefined && goesOn && comment.type === "Line") {
      before.text += `\n${text}`
      before.last = comment
    } else passages.push({ at: comment, text, last: comment })
  }
  return passages.filter(({ text }) => !isDirective(text))
}

const textOf = (node: Node | undefined): string => {
  if (node === undefined) return ""
  if (typeof node.value === "string") return node.value
  return node.quasis?.map(({ value }) => value.cooked).join("x") ?? ""
}

/** A sentence of its own: a capital, five words, a full stop. */
const isMessage = (text: string) => /^\p{Lu}[^\n]*\.$/u.test(text) && text.split(" ").length >= 5

const tests = new Set(["it", "describe", "layer", "test", "suite", "apart", "effect", "live", "journeys", "browser"])

const reporting = (context: Context) => (node: Comment | Node, text: string) => {
  for (const { message, sentence } of faultsOf(text)) {
    context.report({ node, message: `${message}: ${sentence.slice(0, 160)}` })
  }
}

/** A test or suite: a call of theirs, or one of the lab's with words and a body. */
const titlesIn = (check: ReturnType<typeof reporting>) => ({
  CallExpression: ({ arguments: [title, ...others] = [], callee }: Node) => {
    const name = callee?.name ?? callee?.object?.name ?? ""
    const hasBody = others.some(({ type }) => /Function/u.test(type))
    if (title !== undefined && (tests.has(name) || hasBody)) check(title, textOf(title))
  },
})

const plain = {
  create: (context: Context) => {
    const check = reporting(context)
    const message = (node: Node) => {
      const text = textOf(node)
      if (isMessage(text)) check(node, text)
    }
    return {
      Program: () => {
        for (const { at, text } of passagesOf(context.sourceCode.getAllComments())) check(at, text)
      },
      Literal: message,
      TemplateLiteral: message,
    }
  },
}

export default {
  meta: { name: "prose" },
  rules: { plain, titles: { create: (context: Context) => titlesIn(reporting(context)) } },
}
