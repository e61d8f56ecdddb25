package io.github.pulsarspark.format

import scala.util.Random

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.{CompressionType, MessageMetadata}
import org.apache.pulsar.common.compression.CompressionCodecProvider
import org.apache.pulsar.common.protocol.Commands

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.entry.{EntrySource, PrecedingEntries}
import io.github.pulsarspark.position.Position

/** An entry of a made-up topic; `chunks` is 1 for a message in one entry. */
final case class LogEntry(
    at: Position,
    uuid: String,
    id: Int,
    chunks: Int,
    publishTime: Long,
    payload: Seq[Byte],
    bytes: ByteBuf
) {
  def isLast: Boolean = id == chunks - 1
}

/** A topic with messages in chunks, read from memory. */
final case class ChunkedLog(entries: Vector[LogEntry]) {

  /** Entries after a place, up to another. */
  def source(startExclusive: Position, endInclusive: Position): EntrySource = new EntrySource {
    private val rest              = entries.iterator.filter(e => e.at > startExclusive && e.at <= endInclusive)
    private var current           = entries.head
    override def next(): Boolean  = { val more = rest.hasNext; if (more) current = rest.next(); more }
    override def ledgerId: Long   = current.at.ledgerId
    override def entryId: Long    = current.at.entryId
    override def entry: ByteBuf   = current.bytes
    override def lost: LostRanges = LostRanges.none
    override def close(): Unit    = ()
  }

  /** Answers as a broker does: right if publish times are in order, otherwise only with an allowance. */
  def earlier(misleading: Boolean): PrecedingEntries = new PrecedingEntries {
    override def placesBefore(publishTime: Long): Iterator[Position] = {
      val first = entries.indexWhere(_.publishTime >= publishTime)
      val right = if (first > 0) entries(first - 1).at else Position(entries.head.at.ledgerId, -1)
      if (misleading) Iterator(entries.last.at, right) else Iterator(right, Position(entries.head.at.ledgerId, -1))
    }
    override def open(startExclusive: Position, endInclusive: Position): EntrySource =
      source(startExclusive, endInclusive)
  }

  /** Reads the log as the Java client does, from the first entry on: position and payload of each message, and the
    * number of incomplete messages.
    */
  def asClient: (Vector[(Position, Seq[Byte])], Int) = {
    val open      = scala.collection.mutable.Map.empty[String, Vector[LogEntry]]
    val delivered = scala.collection.mutable.Set.empty[String]
    var messages  = Vector.empty[(Position, Seq[Byte])]
    var left      = 0
    entries.foreach { e =>
      if (e.chunks == 1) messages :+= e.at -> e.payload
      else {
        if (e.id == 0) { open(e.uuid) = Vector.empty; delivered -= e.uuid }
        val known = open.get(e.uuid).map(_.size)
        if (known.contains(e.id)) {
          open(e.uuid) = open(e.uuid) :+ e
          if (e.isLast) {
            messages :+= e.at -> open(e.uuid).flatMap(_.payload)
            open -= e.uuid
            delivered += e.uuid
          }
        } else if (!known.exists(e.id < _)) {
          open -= e.uuid
          if (e.isLast && !delivered(e.uuid)) left += 1
        }
      }
    }
    (messages, left)
  }
}

object ChunkedLog {

  /** The entries that hold one message: its compressed payload in pieces. */
  def split(
      value: Array[Byte],
      pieces: Int,
      uuid: String,
      publishTime: Long,
      compression: CompressionType = CompressionType.NONE,
      describe: MessageMetadata => Unit = _ => ()
  ): Vector[ByteBuf] = {
    val packed =
      CompressionCodecProvider.getCompressionCodec(compression).encode(Unpooled.directBuffer().writeBytes(value))
    val length = packed.readableBytes
    (0 until pieces).toVector.map { id =>
      val from     = (length.toLong * id / pieces).toInt
      val to       = (length.toLong * (id + 1) / pieces).toInt
      val metadata = new MessageMetadata().setProducerName("p").setSequenceId(7).setPublishTime(publishTime)
      if (pieces > 1) metadata.setUuid(uuid).setChunkId(id).setNumChunksFromMsg(pieces).setTotalChunkMsgSize(length)
      if (compression != CompressionType.NONE) metadata.setCompression(compression).setUncompressedSize(value.length)
      describe(metadata)
      Unpooled.copiedBuffer(
        Commands.serializeMetadataAndPayload(Commands.ChecksumType.Crc32c, metadata, packed.slice(from, to - from))
      )
    }
  }

  /** Messages of up to five chunks of several producers, mixed, over several ledgers. Some are sent in part and again
    * from an earlier chunk on, some lack a chunk, some are given up and begun again under the same id.
    */
  def random(dice: Random): ChunkedLog = {
    val producers = Vector.fill(1 + dice.nextInt(4)) {
      (0 until 1 + dice.nextInt(6)).toVector.flatMap(_ => message(dice))
    }
    place(mixed(producers, dice), dice)
  }

  /** One message as its producer brings it to the topic: uuid, chunk and number of chunks. */
  private def message(dice: Random): Vector[(String, Int, Int)] = {
    val chunks = 1 + dice.nextInt(5)
    val uuid   = s"u${dice.nextLong()}"
    val whole  = (0 until chunks).toVector
    val sent   = dice.nextInt(6) match {
      case 0 => whole.take(1 + dice.nextInt(chunks)) ++ whole // given up and begun again, or sent twice
      case 1 =>
        val n = 1 + dice.nextInt(chunks);
        whole.take(n) ++ whole.drop(math.max(0, n - 1 - dice.nextInt(3))) // sent again after a lost connection
      case 2 => whole.patch(dice.nextInt(chunks), Nil, 1)
      case 3 => whole.take(dice.nextInt(chunks))
      case _ => whole
    }
    // nothing tells a second message in one entry from the first one
    (if (chunks == 1) whole else sent).map((uuid, _, chunks))
  }

  /** Mixes what several producers send, as a broker may receive it. */
  def mixed[A](queues: Vector[Vector[A]], dice: Random): Vector[A] = {
    val left = queues.filter(_.nonEmpty)
    if (left.isEmpty) Vector.empty
    else {
      val i = dice.nextInt(left.size)
      left(i).head +: mixed(left.updated(i, left(i).tail), dice)
    }
  }

  /** Chunks of a message share its publish time, which the clock gave when the first was sent. */
  private def place(sent: Vector[(String, Int, Int)], dice: Random): ChunkedLog = {
    val times  = scala.collection.mutable.Map.empty[String, Long]
    var ledger = 10L
    var entry  = -1L
    ChunkedLog(sent.zipWithIndex.map { case ((uuid, id, chunks), i) =>
      if (dice.nextInt(5) == 0) { ledger += 1 + dice.nextInt(3); entry = -1 }
      entry += 1 + (if (dice.nextInt(8) == 0) dice.nextInt(3) else 0) // markers take positions
      val time    = times.getOrElseUpdate(uuid, 1000L + i / 3)
      val content = uuid.getBytes("UTF-8")
      val pieces  = split(content, chunks, uuid, time)
      val from    = (content.length.toLong * id / chunks).toInt
      val to      = (content.length.toLong * (id + 1) / chunks).toInt
      LogEntry(Position(ledger, entry), uuid, id, chunks, time, content.slice(from, to).toSeq, pieces(id))
    })
  }
}
