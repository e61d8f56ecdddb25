package io.github.pulsarspark.storage.bookkeeper

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.storage.segment.{BookieLedger, SegmentLocation}

/** A ledger on bookies. */
private[storage] final case class BookieLocation(ledger: BookieLedger) extends SegmentLocation {
  override def level: Tier                     = Tier.Bookies
  override def hosts(entry: Long): Seq[String] = ledger.ensembleOf(entry)._1.map(BookieLedger.hostOf).distinct
}
