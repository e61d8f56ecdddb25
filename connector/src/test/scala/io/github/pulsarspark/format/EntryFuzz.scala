package io.github.pulsarspark.format

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.CompressionType

import io.github.pulsarspark.fuzz.FuzzTarget

/** Entries as brokers store them. The first byte of an input selects how deep they are opened, and which messages of a
  * batch are taken.
  */
object EntryFuzz extends FuzzTarget {
  private val limit = 1 << 16

  override def allowance: Long = 64L * limit

  override def seeds: Seq[Array[Byte]] = for {
    compression <- CompressionType.values.toSeq
    batched     <- Seq(false, true)
    checksum    <- Seq(false, true)
  } yield {
    val sent = Sent.text("value " * 9).copy(key = Some(Sent.Bytes(Seq(1, 2))), properties = Seq("n" -> "v"),
      eventTime = Some(5), orderingKey = Some(Seq(3)))
    val messages = if (batched) Seq(sent, Sent.text(""), sent.copy(value = None)) else Seq(sent)
    0.toByte +: StoredEntry(messages, batched, compression, checksum, brokerTime = Some(7), brokerIndex = Some(9)).array
  }

  override def decode(bytes: Array[Byte]): Any = {
    val how     = bytes.headOption.fold(0)(_.toInt)
    val level   = if ((how & 1) == 0) DecodeDepth.Message else DecodeDepth.Entry
    val last    = if ((how & 2) == 0) Int.MaxValue else how >> 4
    val decoder = new EntryDecoder("t", level, limit)
    val entry   = Unpooled.wrappedBuffer(bytes.drop(1))
    val stored  = if ((how & 4) == 0) entry else Unpooled.directBuffer().writeBytes(entry)
    try Digest.of(decoder, stored, last)
    finally { stored.release(); () }
  }
}
