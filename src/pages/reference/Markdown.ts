/** The reference as Markdown, for whoever reads no pages. */
import { examplesOf } from "./Examples.ts"
import { codesOf, type Forms, type Member, membersOf, resolved, wordsFor } from "./Form.ts"
import { answerOf, bodyOf, type Operation, type Reference } from "./Operations.ts"

const row = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  rows.length === 0 ? [] : [[row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")]

const member = ({ description, isRequired, path, words }: Member) => [
  `\`${path}\`${isRequired ? "" : " (optional)"}`,
  words,
  description,
]

const parameters = (forms: Forms, { parameters: all = [] }: Operation) =>
  all.map(({ description, in: place, name, required, schema }) => [
    `\`${name}\`, ${place}${required ? "" : " (optional)"}`,
    wordsFor(forms, schema),
    description ?? resolved(forms, schema).description ?? "",
  ])

const statuses = (forms: Forms, { responses }: Operation) =>
  Object.entries(responses).flatMap(([status, { content, description }]) => {
    const form = content?.["application/json"]?.schema
    const codes = Number(status) < 400 || form === undefined ? [] : codesOf(forms, form)
    return (codes.length === 0 ? [["", description] as const] : codes).map(([code, meaning]) => [
      code === "" ? status : `${status} \`${code}\``,
      meaning === "" ? description : meaning,
    ])
  })

const operationOf = (publicUrl: string, forms: Forms, operation: Operation): ReadonlyArray<string> => {
  const { description, method, path, summary } = operation
  const [curl] = examplesOf(publicUrl, forms, operation)
  const body = bodyOf(operation)
  const [, answer] = answerOf(operation) ?? []
  return [
    `### ${summary}`,
    `\`${method} ${path}\``,
    ...(description === undefined ? [] : [description]),
    `\`\`\`sh\n${curl?.text ?? ""}\n\`\`\``,
    ...table(["Parameter", "Form", "Meaning"], parameters(forms, operation)),
    ...table(["Body", "Form", "Meaning"], body === undefined ? [] : membersOf(forms, body).map(member)),
    ...table(["Answer", "Form", "Meaning"], answer === undefined ? [] : membersOf(forms, answer).map(member)),
    ...table(["Status and code", "Meaning"], statuses(forms, operation)),
  ]
}

export const markdown = (publicUrl: string, { chapters, description, forms, version }: Reference): string =>
  [
    "# The API",
    `> ${description}`,
    `Version ${version}. As a page: ${publicUrl}/docs. As a document for generators: ${publicUrl}/openapi.json.`,
    ...chapters.flatMap(({ description: about, operations, title }) => [
      `## ${title}`,
      about,
      ...operations.flatMap((operation) => operationOf(publicUrl, forms, operation)),
    ]),
  ].join("\n\n") + "\n"
