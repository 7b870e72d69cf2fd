/** The icon of the server and its tools, as MCP names one. */

/** An icon has to be read by HTTPS, so a server of this machine shows none. */
export const icons = (
  publicUrl: string,
): {
  readonly icons?: ReadonlyArray<{
    readonly src: string
    readonly mimeType: string
    readonly sizes: ReadonlyArray<string>
  }>
} =>
  publicUrl.startsWith("https:")
    ? { icons: [{ src: `${publicUrl}/art/icons/icon-192.png`, mimeType: "image/png", sizes: ["192x192"] }] }
    : {}
