package io.github.pulsarspark.storage.bookkeeper.bookies

import io.github.pulsarspark.options.BookKeeperOptions
import io.github.pulsarspark.storage.segment.BookieLocation

/** Address at which a bookie listens.
  *
  * @param host
  *   a name or an address, an IPv6 address without its brackets
  */
private[storage] final case class BookieAddress(host: String, port: Int)

private[storage] object BookieAddress {

  /** The option that leads to a bookie's address, for errors: brokers name others. */
  private[bookkeeper] val OptionKey = "bookieAddresses"

  /** Address from the option `bookieAddresses`, else from the bookie's id, `host:port`; None for an id that is neither
    * mapped nor an address.
    */
  def of(bookie: String, options: BookKeeperOptions): Option[BookieAddress] = {
    val address = options.addresses.getOrElse(bookie, bookie)
    val host    = BookieLocation.hostOf(address)
    address.drop(host.length + 1).toIntOption.collect {
      case port if host.nonEmpty && port >= 0 && port < 65536 =>
        BookieAddress(host.stripPrefix("[").stripSuffix("]"), port)
    }
  }
}
