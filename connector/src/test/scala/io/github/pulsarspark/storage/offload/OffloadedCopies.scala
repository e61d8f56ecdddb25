package io.github.pulsarspark.storage.offload

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.storage.offload.format.{BlockFormat, MapFileFormat, OffloadLocation, OffloadedLedger}

/** Copies of ledgers in a folder, for tests of other packages. */
private[pulsarspark] final class OffloadedCopies(val folder: Path) {
  private val writer = new OffloadWriter(folder)

  /** @param blockBytes
    *   of every block but the last, at least what the largest entry takes
    */
  def writeBlocks(topic: String, ledgerId: Long, uuid: String, entries: Seq[Array[Byte]], blockBytes: Int): Unit = {
    val copy = OffloadedLedger(ledgerId, uuid, TopicNames.managedLedger(topic),
      OffloadLocation(BlockFormat, folder.toUri.toString))
    val least = OffloadWriter.HeaderLength + 12 + entries.map(_.length).max
    writer.writeBlocks(copy, OffloadWriter.blocks(entries, math.max(least, blockBytes), metadata(copy, entries)))
  }

  def writeMapFile(topic: String, ledgerId: Long, uuid: String, entries: Seq[Array[Byte]]): Unit = {
    val copy = OffloadedLedger(ledgerId, uuid, TopicNames.managedLedger(topic),
      OffloadLocation(MapFileFormat, folder.toUri.toString))
    writer.writeMapFile(copy,
      (-1L -> metadata(copy, entries)) +: entries.zipWithIndex.map { case (e, id) =>
        id.toLong -> e
      })
  }

  /** Deletes the copy of this id, in any format. */
  def delete(uuid: String): Unit = {
    val all = Using.resource(Files.walk(folder))(_.iterator.asScala.filter(_.toString.contains(uuid)).toVector)
    all.reverse.foreach(Files.delete)
  }

  private def metadata(copy: OffloadedLedger, entries: Seq[Array[Byte]]) =
    OffloadWriter.metadata(entries.size - 1L, Some(copy.managedLedger))
}
