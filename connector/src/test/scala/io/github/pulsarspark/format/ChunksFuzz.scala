package io.github.pulsarspark.format

import io.netty.buffer.Unpooled

import io.github.pulsarspark.fuzz.{FuzzTarget, Pieces}

/** Entries one after the other through one decoder, some of them chunks of messages. */
object ChunksFuzz extends FuzzTarget {
  private val limit = 1 << 16

  override def allowance: Long = 64L * limit

  private def chunk(id: Int, of: Int, uuid: String): Array[Byte] =
    StoredEntry(
      Seq(Sent.text(s"part $id")),
      batched = false,
      checksum = false,
      metadata = m => { m.setUuid(uuid).setChunkId(id).setNumChunksFromMsg(of).setTotalChunkMsgSize(12); () }
    ).array

  override def seeds: Seq[Array[Byte]] = Seq(
    Pieces.joined(chunk(0, 2, "u"), chunk(1, 2, "u")),
    Pieces.joined(chunk(0, 3, "u"), chunk(0, 2, "w"), chunk(1, 3, "u"), chunk(1, 2, "w"), chunk(2, 3, "u")),
    Pieces.joined(chunk(1, 2, "u"), chunk(1, 2, "u"))
  )

  override def decode(bytes: Array[Byte]): Any = {
    val decoder = new EntryDecoder("t", DecodeDepth.Message, limit)
    Pieces.of(bytes).map(piece => Digest.of(decoder, Unpooled.wrappedBuffer(piece))) ->
      decoder.incompleteMessages
  }
}
