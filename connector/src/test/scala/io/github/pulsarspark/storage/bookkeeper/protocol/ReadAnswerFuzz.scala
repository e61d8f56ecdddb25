package io.github.pulsarspark.storage.bookkeeper.protocol

import io.netty.buffer.{ByteBufUtil, Unpooled}
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType

import io.github.pulsarspark.fuzz.FuzzTarget

/** Answers of a bookie to a read. The first byte of an input says of which kind the read was. */
object ReadAnswerFuzz extends FuzzTarget {
  private val ledger = 4711L

  override def refusals: Set[Class[_]] = Set(classOf[ReplicaFailed])

  private def answer(isBatch: Boolean, digest: DigestType): Array[Byte] = {
    val entries = (0 until (if (isBatch) 3 else 1)).map(n =>
      ScriptedBookie.stored(ledger, n.toLong, s"entry $n".getBytes, digest)
    )
    val out = Unpooled.buffer().writeInt(ReadRequest.header(isBatch)).writeInt(0).writeLong(ledger).writeLong(0)
    if (isBatch) out.writeLong(1)
    entries.foreach { entry =>
      if (isBatch) out.writeInt(entry.length)
      out.writeBytes(entry)
    }
    ((if (isBatch) 1 else 0) | (if (digest == DigestType.CRC32) 2 else 0)).toByte +: ByteBufUtil.getBytes(out)
  }

  override def seeds: Seq[Array[Byte]] =
    for { batch <- Seq(false, true); digest <- Seq(DigestType.CRC32C, DigestType.CRC32) } yield answer(batch, digest)

  override def decode(bytes: Array[Byte]): Any = {
    val how    = bytes.headOption.fold(0)(_.toInt)
    val digest = EntryDigest.of(if ((how & 2) == 0) "CRC32C" else "CRC32").get
    val found  = new ReadAnswer(Unpooled.wrappedBuffer(bytes.drop(1)), (how & 1) != 0)
    if (!found.isFormed) throw ReadAnswer.malformed
    found.check()
    Iterator.from(0).takeWhile(n => found.next(ledger, n.toLong, digest)).map(_ =>
      ByteBufUtil.hexDump(found.entry)
    ).toVector
  }
}
