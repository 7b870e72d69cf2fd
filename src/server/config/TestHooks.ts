/** Settings for processes under test. They are no part of the configuration, and no server is run with them. */
import { Config, Duration } from "effect"

/** Seconds between two rounds of the background reconciler. */
export const sweepEvery = Config.map(Config.withDefault(Config.Finite("TEST_SWEEP_SECONDS"), 5), Duration.seconds)

/** Seconds until the outcome of a settlement counts as unknown. */
export const patience = Config.map(Config.withDefault(Config.Finite("TEST_SETTLE_SECONDS"), 30), Duration.seconds)

/** The card processor. */
export const cardApiUrl = Config.withDefault(Config.String("TEST_CARD_API_URL"), "https://api.stripe.com")
