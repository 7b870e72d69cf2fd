/** The public address of this server. Absolute URLs are built from it, never from a Host header. */
import { Context, Layer } from "effect"

/** Origin without a trailing slash, `https://altar.example`. */
export class PublicUrl extends Context.Service<PublicUrl, string>()("spirit-altar/platform/PublicUrl") {
  static readonly layer = (url: string) => Layer.succeed(PublicUrl, url.replace(/\/+$/u, ""))
}
