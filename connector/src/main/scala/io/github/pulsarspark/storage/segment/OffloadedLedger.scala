package io.github.pulsarspark.storage.segment

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8

/** A ledger that a broker copied from its bookies to a file system or an object store: what a task has to know to read
  * the copy.
  *
  * @param uuid
  *   of the offload: a ledger may have been copied more than once
  * @param managedLedger
  *   what the ledger belongs to, `tenant/namespace/persistent/topic`, the topic as a URL has it
  */
private[pulsarspark] final case class OffloadedLedger(
    ledgerId: Long,
    uuid: String,
    managedLedger: String,
    location: OffloadLocation
) {

  /** The topic's name, for messages. */
  def topic: String = managedLedger.split("/persistent/", 2) match {
    case Array(namespace, encoded) => s"persistent://$namespace/${URLDecoder.decode(encoded, UTF_8)}"
    case _                         => managedLedger
  }
}

/** Where the copies are, and in which of the formats of Pulsar's offloaders. The URI is one that Hadoop's file systems
  * understand.
  */
private[pulsarspark] sealed trait OffloadLocation extends Serializable {
  def uri: String
}

private[pulsarspark] object OffloadLocation {

  /** One object of blocks and one index object for each ledger, side by side: what all offloaders to cloud storage
    * write.
    */
  final case class BlockObjects(uri: String) extends OffloadLocation

  /** One Hadoop `MapFile` for each ledger, in folders named like its topic: what the offloader `filesystem` writes. */
  final case class MapFiles(uri: String) extends OffloadLocation
}

/** A part of an offloaded ledger that can be read without what is before it.
  *
  * @param offset
  *   where it begins in the file
  */
private[pulsarspark] final case class OffloadBlock(firstEntryId: Long, offset: Long, bytes: Long) {
  def end: Long = offset + bytes
}
