package io.github.pulsarspark.format

import scala.util.control.NonFatal

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.format.entry.{EntryHeader, MalformedBytes, MessageView}

/** Puts the payload of an entry into an array: joined from its chunks, decrypted, decompressed. For one thread.
  *
  * @param header
  *   of the current entry
  * @param maxMessageBytes
  *   the most that chunks may come to, and that a compressed payload may claim to unpack to
  * @param ownBytes
  *   whether each array is a new one
  * @param error
  *   builds the exception from the position and topic of the entry
  */
private[format] final class PayloadReader(
    header: EntryHeader,
    decryptor: PayloadDecryptor,
    maxMessageBytes: Int,
    ownBytes: Boolean,
    error: ((String, String) => Occurrence, Option[Throwable]) => Throwable
) {
  private val metadata = header.metadata
  private val codecs   = Codec.all()

  private var payload: ByteBuf    = Unpooled.EMPTY_BUFFER // the entry itself unless it had to be decrypted or joined
  private var start               = 0
  private var length              = 0
  private var packed: Array[Byte] = MessageView.NoBytes   // compressed payload, reused
  private var endInArray          = 0

  /** End index of the payload in the array, exclusive. */
  def end: Int = endInArray

  /** The payload; for a message that is not in a batch the metadata precedes it.
    *
    * @param parts
    *   the chunks that the entry completes; empty when it is not a chunk
    * @param used
    *   an array that may be overwritten unless `ownBytes` forbids it
    */
  def read(entry: ByteBuf, parts: Seq[Chunk], used: Array[Byte]): Array[Byte] = {
    if (metadata.compression != 0) limitSize(metadata.uncompressedSize.toLong)
    locate(entry, parts)
    val inFront = if (!metadata.isBatch && metadata.hasMessageFields) header.length else 0
    endInArray = inFront + (if (metadata.compression == 0) length else metadata.uncompressedSize)
    val bytes =
      if (ownBytes) new Array[Byte](endInArray)
      else if (endInArray <= used.length) used
      else new Array[Byte](endInArray + endInArray / 4) // entries differ a little in size
    System.arraycopy(header.bytes, 0, bytes, 0, inFront)
    if (metadata.compression == 0) payload.getBytes(start, bytes, inFront, length)
    else decompress(bytes, inFront)
    payload = Unpooled.EMPTY_BUFFER
    bytes
  }

  private def locate(entry: ByteBuf, parts: Seq[Chunk]): Unit =
    if (parts.nonEmpty) payloadIs(joined(parts))
    else if (metadata.isEncrypted)
      payloadIs(decrypt(header.bytes, header.length, entry.slice(header.payloadStart, header.payloadLength)))
    else {
      payload = entry
      start = header.payloadStart
      length = header.payloadLength
    }

  private def payloadIs(bytes: Array[Byte]): Unit = {
    payload = Unpooled.wrappedBuffer(bytes)
    start = 0
    length = bytes.length
  }

  /** Producers compress, then split, then encrypt. */
  private def joined(parts: Seq[Chunk]): Array[Byte] = {
    limitSize(parts.foldLeft(0L)(_ + _.payload.length))
    Array.concat(parts.map(c =>
      if (c.metadata.isEmpty) c.payload else decrypt(c.metadata, c.metadata.length, Unpooled.wrappedBuffer(c.payload))
    ): _*)
  }

  private def decrypt(metadata: Array[Byte], length: Int, encrypted: ByteBuf): Array[Byte] =
    try decryptor.decrypt(metadata, length, encrypted)
    catch {
      case e: Undecryptable =>
        throw error(
          (position, topic) => Conditions.EntryEncrypted(position = position, topic = topic, reason = e.getMessage),
          None
        )
    }

  private def limitSize(bytes: Long): Unit = if (bytes > maxMessageBytes)
    throw error(
      (position, topic) =>
        Conditions.EntryTooLarge(position = position, topic = topic, bytes = bytes.toString,
          limit = maxMessageBytes.toString),
      None
    )

  private def decompress(target: Array[Byte], at: Int): Unit = {
    val number = metadata.compression
    if (number < 1 || number > codecs.length) throw unsupported(s"compression number $number", None)
    val codec = codecs(number - 1)
    try
      if (payload.hasArray)
        codec.unpack(payload.array, payload.arrayOffset + start, length, target, at, endInArray)
      else {
        if (length > packed.length) packed = new Array[Byte](length)
        payload.getBytes(start, packed, 0, length)
        codec.unpack(packed, 0, length, target, at, endInArray)
      }
    catch {
      case malformed: MalformedBytes => throw malformed
      case missing: LinkageError     =>
        throw unsupported(s"compression ${codec.name}, whose library does not load here", Some(missing))
      case NonFatal(e) =>
        val problem = s"its ${codec.name} payload cannot be unpacked (${e.getMessage})"
        throw error((position, topic) => Conditions.EntryCorrupt(position = position, topic = topic, problem = problem),
          Some(e))
    }
  }

  private def unsupported(feature: String, cause: Option[Throwable]) =
    error((position, topic) => Conditions.EntryUnsupported(position = position, topic = topic, feature = feature),
      cause)
}
