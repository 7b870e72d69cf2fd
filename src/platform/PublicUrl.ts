/** The address the world knows this server by; every absolute URL is built from it, none from a Host header. */
import { Context, Layer } from "effect"

/** Origin without a trailing slash, `https://altar.example`. */
export class PublicUrl extends Context.Service<PublicUrl, string>()("spirit-altar/platform/PublicUrl") {
  static readonly layer = (url: string) => Layer.succeed(PublicUrl, url.replace(/\/+$/u, ""))
}
