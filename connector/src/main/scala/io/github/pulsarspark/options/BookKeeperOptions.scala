package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue, Secret}

/** Everything that makes two BookKeeper clients the same client. Has no secret in its text.
  *
  * @param cluster
  *   the Pulsar cluster whose bookies these are: ledger ids mean nothing beyond it
  * @param tls
  *   how to talk TLS; None to talk plainly
  * @param settings
  *   BookKeeper's own settings by its own names
  * @param addresses
  *   `host:port` of bookies whose ids are something else
  */
private[pulsarspark] final case class BookKeeperOptions(
    cluster: String,
    tls: Option[BookieTls],
    settings: Map[String, Secret],
    addresses: Map[String, String]
)

/** TLS to bookies. All files are PEM.
  *
  * @param clientFiles
  *   certificate and private key, for bookies that want to know who reads
  */
private[pulsarspark] final case class BookieTls(
    trustCertsFile: String,
    clientFiles: Option[(String, String)],
    skipHostnameVerification: Boolean
)

private[pulsarspark] object BookKeeperOptions {
  def apply(options: CheckedOptions): BookKeeperOptions = BookKeeperOptions(
    options("service.url"),
    options.get("bookie.tls.trustCertsFile").map { trusted =>
      BookieTls(
        trusted,
        options.get("bookie.tls.certFile").map(_ -> options("bookie.tls.keyFile")),
        options.boolean("bookie.tls.insecureSkipHostnameVerification")
      )
    },
    options.clientSettings("bookkeeper.").view.mapValues(Secret(_)).toMap,
    options.get("bookieAddresses").fold(Map.empty[String, String])(OptionValue.addresses(_).get)
  )
}
