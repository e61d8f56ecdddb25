package io.github.pulsarspark.storage.offload.format

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat

import io.github.pulsarspark.format.entry.MalformedBytes

/** Metadata that BookKeeper had of a ledger when it was copied; it is part of the copy.
  *
  * @param managedLedger
  *   the managed ledger that it names
  */
private[offload] final case class OffloadedLedgerMetadata(lastEntryId: Long, managedLedger: Option[String]) {

  /** Fails unless this is the ledger of `expected` and has the entries up to `last`. */
  def check(expected: String, last: Long): Unit = {
    managedLedger.filter(_ != expected).foreach(other => throw new MalformedBytes(s"it belongs to $other"))
    if (last > lastEntryId) throw new MalformedBytes(s"it ends with entry $lastEntryId, before entry $last")
  }
}

private[offload] object OffloadedLedgerMetadata {

  private val ManagedLedgerKey = "pulsar/managed-ledger"

  /** Parses BookKeeper's `LedgerMetadataFormat`, of which offloaders do not set every required field. */
  def parse(bytes: Array[Byte], from: Int, length: Int): OffloadedLedgerMetadata = {
    val metadata =
      try LedgerMetadataFormat.newBuilder.mergeFrom(bytes, from, length).buildPartial
      catch { case e: IOException => throw new MalformedBytes(s"its metadata is not readable: ${e.getMessage}") }
    if (!metadata.hasLastEntryId || metadata.getLastEntryId < 0)
      throw new MalformedBytes("its metadata names no last entry")
    val owner = metadata.getCustomMetadataList.asScala.find(_.getKey == ManagedLedgerKey)
    OffloadedLedgerMetadata(metadata.getLastEntryId, owner.map(_.getValue.toString(UTF_8)))
  }
}
