/** Reports an old Node in one sentence, before it meets a file that it cannot parse. Any Node can read this file. */
const needed = 24
const [major] = process.versions.node.split(".")

if (Number(major) < needed) {
  process.stderr.write(
    `Node ${needed} or newer is needed, and this is Node ${process.versions.node}: install it, or in a checkout run npm ci, which brings one.\n`,
  )
  process.exit(1)
}
