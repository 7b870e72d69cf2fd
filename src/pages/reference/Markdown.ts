/** The reference as Markdown. */
import { addressOf } from "./Errors.ts"
import { examplesOf } from "./Examples.ts"
import { type Forms, type Member, membersOf } from "./Form.ts"
import { answerOf, bodyOf, type Operation, parametersOf, type Reference, statusesOf } from "./Operations.ts"

const row = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  rows.length === 0 ? [] : [[row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")]

const member = ({ description, isRequired, path, place, words }: Member & { readonly place?: string }) => [
  `\`${path}\`${place === undefined ? "" : `, ${place}`}${isRequired ? "" : " (optional)"}`,
  words,
  description,
]

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
    ...table(["Parameter", "Form", "Meaning"], parametersOf(forms, operation).map(member)),
    ...table(["Body", "Form", "Meaning"], body === undefined ? [] : membersOf(forms, body).map(member)),
    ...table(["Answer", "Form", "Meaning"], answer === undefined ? [] : membersOf(forms, answer).map(member)),
    ...table(
      ["Status and code", "Meaning"],
      statusesOf(forms, operation).map(({ code, meaning, status }) => [
        code === "" ? status : `${status} [\`${code}\`](${addressOf(code)}.md)`,
        meaning,
      ]),
    ),
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
