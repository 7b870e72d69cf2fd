/** The manual as Markdown, for llms.txt and for clients that ask `/for-agents` for it. */
import type { Block, Section } from "./Section.ts"
import * as Words from "./Words.ts"

const cell = (value: string) => value.replaceAll("|", "\\|")
const row = (cells: ReadonlyArray<string>) => `| ${cells.map(cell).join(" | ")} |`

const written = (block: Block): string => {
  switch (block._tag) {
    case "Text":
      return block.text
    case "List":
      return block.items.map((item, index) => `${block.ordered === true ? `${index + 1}.` : "-"} ${item}`).join("\n")
    case "Links":
      return block.links.map(([title, url, says]) => `- [${title}](${url}): ${says}`).join("\n")
    case "Table":
      return [row(block.head), row(block.head.map(() => "---")), ...block.rows.map(row)].join("\n")
    case "Code":
      return `\`\`\`${block.language}\n${block.code}\n\`\`\``
  }
}

export const markdown = (sections: ReadonlyArray<Section>): string =>
  [
    `# ${Words.name}`,
    `> ${Words.description}`,
    ...sections.flatMap(({ blocks, title }) => [`## ${title}`, ...blocks.map(written)]),
  ].join("\n\n") + "\n"
