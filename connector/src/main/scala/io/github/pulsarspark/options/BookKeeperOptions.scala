package io.github.pulsarspark.options

/** Everything that makes two BookKeeper clients the same client. Has no secret in its text.
  *
  * @param cluster
  *   the Pulsar cluster whose bookies these are: ledger ids mean nothing beyond it
  * @param settings
  *   BookKeeper's own settings by its own names
  * @param addresses
  *   `host:port` of bookies whose ids are something else
  */
private[pulsarspark] final case class BookKeeperOptions(cluster: String, settings: Map[String, Secret], addresses: Map[String, String])

private[pulsarspark] object BookKeeperOptions {
  def apply(options: CheckedOptions): BookKeeperOptions = BookKeeperOptions(
    options("service.url"),
    options.clientSettings("bookkeeper.").view.mapValues(Secret(_)).toMap,
    options.get("bookieAddresses").fold(Map.empty[String, String])(OptionValue.addresses(_).get)
  )
}
