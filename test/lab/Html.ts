/** The visible content of a page, from its source. */

const signs = { "&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" } as const

export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:quot|#39|lt|gt|amp);/gu, (sign) => signs[sign as keyof typeof signs])
