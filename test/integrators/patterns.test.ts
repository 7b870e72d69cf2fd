/** Every pattern of the document means the same in the languages that its readers are generated in. */
import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { patience } from "../lab/Patience.ts"
import { newFolder } from "../lab/Folders.ts"

// A compiler of Java or Go starts.
vi.setConfig({ testTimeout: patience(60), hookTimeout: patience(60) })

const run = promisify(execFile)

/** The patterns of all schemas; examples are data. */
const patternsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, one]) =>
        ["example", "examples"].includes(name)
          ? []
          : name === "pattern" && typeof one === "string"
            ? [one]
            : patternsIn(one),
      )

const read = async () => {
  const document = await readFile(new URL("../../schema/openapi.json", import.meta.url), "utf8")
  return [...new Set(patternsIn(JSON.parse(document)))].sort()
}

/** The result of a pattern for a text, to compare languages beyond compilation. */
const texts = [
  "",
  "Wren",
  "0".repeat(64),
  "tab\there",
  "nul\0here",
  "two\nlines",
  "é 🪨 ١",
  "2026-11-21",
  "2026-11-21T09:17:02.115Z",
  "$0.01",
  "#d9a441",
  "/api/witness",
  "eip155:8453",
  "a-key-of-mine_1",
]

const python = `import json, re, sys
patterns, texts = json.load(open(sys.argv[1]))
print(json.dumps([[re.search(p, t) is not None for t in texts] for p in patterns]))`

const java = `import java.nio.file.*; import java.util.*; import java.util.regex.*;
public class Patterns { public static void main(String[] a) throws Exception {
  List<String> lines = Files.readAllLines(Path.of(a[0])); StringBuilder out = new StringBuilder("[");
  String[] patterns = lines.get(0).split(","), texts = lines.get(1).split(",", -1);
  for (String p : patterns) { Pattern one = Pattern.compile(text(p)); out.append(out.length() == 1 ? "[" : ",[");
    for (int i = 0; i < texts.length; i++) out.append(i == 0 ? "" : ",").append(one.matcher(text(texts[i])).find());
    out.append("]"); } System.out.println(out.append("]")); }
  static String text(String b) { return new String(Base64.getDecoder().decode(b), java.nio.charset.StandardCharsets.UTF_8); } }`

const go = `package main
import ("encoding/json"; "fmt"; "os"; "regexp")
func main() { var all [][]string; data, _ := os.ReadFile(os.Args[1]); json.Unmarshal(data, &all)
  found := [][]bool{}; for _, p := range all[0] { one := regexp.MustCompile(p); row := []bool{}
    for _, t := range all[1] { row = append(row, one.MatchString(t)) }; found = append(found, row) }
  out, _ := json.Marshal(found); fmt.Println(string(out)) }`

const base64 = (list: ReadonlyArray<string>) => list.map((one) => Buffer.from(one).toString("base64")).join(",")

const languages = [
  {
    name: "Python",
    probe: ["python3", "--version"],
    command: ["python3", "-I", "-c", python, "all.json"],
  },
  { name: "Java", probe: ["java", "--version"], command: ["java", "Patterns.java", "all.txt"] },
  { name: "Go", probe: ["go", "version"], command: ["go", "run", "patterns.go", "all.json"] },
] as const

const isThere = ([command, argument]: readonly [string, string]) =>
  run(command, [argument]).then(
    () => true,
    () => false,
  )

const there = await Promise.all(languages.map(({ probe }) => isThere(probe)))

describe("the patterns of the document", () => {
  let folder = ""
  let patterns: ReadonlyArray<string> = []
  beforeAll(async () => {
    patterns = await read()
    folder = newFolder()
    await writeFile(join(folder, "all.json"), JSON.stringify([patterns, texts]))
    await writeFile(join(folder, "all.txt"), `${base64(patterns)}\n${base64(texts)}\n`)
    await writeFile(join(folder, "Patterns.java"), java)
    await writeFile(join(folder, "patterns.go"), go)
  })

  it("use only common regular-expression syntax", () => {
    assert.isAtLeast(patterns.length, 20)
    for (const pattern of patterns) {
      assert.notMatch(pattern, /\\[pPuUkKhHvVzZAQEGRX]|\(\?|\\[1-9]|\[\^?\]|&&|\[\[|[+*?}][+]/u, pattern)
      // Go counts no further.
      for (const [, most = ""] of pattern.matchAll(/\{(?:\d+,)?(\d+)\}/gu)) assert.isAtMost(Number(most), 1000, pattern)
      assert.match(pattern, /^\^[\x20-\x7e]*\$$/u, pattern)
    }
  })

  /** Without flags, as most libraries compile a pattern. */
  const here = () => patterns.map((pattern) => texts.map((text) => new RegExp(pattern).test(text)))

  it("compile in JavaScript and mean the same with and without the `u` flag", () => {
    assert.deepStrictEqual(
      patterns.map((pattern) => texts.map((text) => new RegExp(pattern, "u").test(text))),
      here(),
    )
  })

  for (const [index, { command, name }] of languages.entries()) {
    it.skipIf(there[index] !== true)(`compile in ${name} and mean the same`, async () => {
      const [program, ...args] = command
      const { stdout } = await run(program, args, { cwd: folder })
      assert.deepStrictEqual(JSON.parse(stdout), here())
    })
  }
})
