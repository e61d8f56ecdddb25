package io.github.pulsarspark.format

import java.util.zip.CRC32C

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, ProtobufCursor}

/** Origin of a stored entry, by which it is told from any other: when it was published, and a digest of its producer,
  * its sequence id and the cluster it was replicated from.
  *
  * @param publishTime
  *   milliseconds since 1970
  */
private[pulsarspark] final case class EntryIdentity(publishTime: Long, digest: String)

private[pulsarspark] object EntryIdentity {

  /** Identity of an entry; None for one that is damaged. */
  def of(stored: ByteBuf): Option[EntryIdentity] = {
    val header = new EntryHeader(new ProtobufCursor)
    try {
      header.read(stored)
      val metadata = header.metadata
      val cluster  = if (metadata.isReplicated) metadata.replicatedFrom.text else ""
      Some(EntryIdentity(metadata.publishTime, digest(metadata.producerName.text, cluster, metadata.sequenceId)))
    } catch { case _: MalformedBytes => None }
  }

  private def digest(producer: String, cluster: String, sequenceId: Long) = {
    val crc = new CRC32C
    crc.update(s"$sequenceId $cluster $producer".getBytes("UTF-8"))
    f"${crc.getValue}%08x"
  }
}
