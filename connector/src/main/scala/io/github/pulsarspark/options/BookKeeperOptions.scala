package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue, Secret}

/** The settings of a BookKeeper client: equal settings share a client. Its text has no secret.
  *
  * @param cluster
  *   the Pulsar cluster that the bookies belong to: ledger ids are valid only within it
  * @param tls
  *   the TLS settings; None = connections are not encrypted
  * @param settings
  *   settings of BookKeeper by its own names
  * @param addresses
  *   `host:port` of bookies whose ids are not addresses
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
  *   certificate and private key, for bookies that authenticate clients
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
