package io.github.pulsarspark.storage.offload.format

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.storage.segment.SegmentLocation

/** A ledger that a broker copied from its bookies to a file system or an object store: what a task has to know to read
  * the copy.
  *
  * @param uuid
  *   of the offload: a ledger may have been copied more than once
  * @param managedLedger
  *   what the ledger belongs to, `tenant/namespace/persistent/topic`, the topic as a URL has it
  */
private[offload] final case class OffloadedLedger(
    ledgerId: Long,
    uuid: String,
    managedLedger: String,
    location: OffloadLocation
) extends SegmentLocation {

  override def level: Tier                     = Tier.Tiered
  override def hosts(entry: Long): Seq[String] = Nil

  /** The topic's name, for messages. */
  def topic: String = managedLedger.split("/persistent/", 2) match {
    case Array(namespace, encoded) => s"persistent://$namespace/${URLDecoder.decode(encoded, UTF_8)}"
    case _                         => managedLedger
  }

  /** The file or folder that holds the entries. */
  def data: Path = location.format.data(this)
}

/** Location of a topic's copies.
  *
  * @param uri
  *   in a form that Hadoop's file systems understand
  */
private[offload] final case class OffloadLocation(format: OffloadFormat, uri: String)
