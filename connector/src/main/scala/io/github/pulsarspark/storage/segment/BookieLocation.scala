package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.format.Tier

/** Metadata of a ledger on bookies: all that a BookKeeper client needs to read it, but for its id. Ledgers of a topic
  * share it where it is equal.
  *
  * @param digestType
  *   BookKeeper's name of it, such as `CRC32C`
  * @param ensembles
  *   the bookies in their order, each from the given entry on; the first begins at entry 0
  * @param managedLedger
  *   the managed ledger that the metadata names
  */
private[pulsarspark] final case class BookieLocation(
    formatVersion: Int,
    ensembleSize: Int,
    writeQuorum: Int,
    ackQuorum: Int,
    digestType: String,
    ensembles: Seq[(Long, Seq[String])],
    managedLedger: Option[String]
) extends SegmentLocation {
  override def level: Tier                     = Tier.Bookies
  override def hosts(entry: Long): Seq[String] = ensembleOf(entry)._1.map(BookieLocation.hostOf).distinct

  def bookies: Seq[String] = ensembles.flatMap(_._2).distinct

  /** The bookies among which an entry is, and the first of the entries after it for which others were chosen. */
  def ensembleOf(entry: Long): (Seq[String], Option[Long]) = {
    val (before, after) = ensembles.span(_._1 <= entry)
    (before.last._2, after.headOption.map(_._1))
  }
}

private[storage] object BookieLocation {

  /** The host in a bookie's id, which is `host:port` unless an operator chose another. */
  def hostOf(bookie: String): String = bookie.lastIndexOf(':') match {
    case -1   => bookie
    case port => bookie.take(port)
  }
}
