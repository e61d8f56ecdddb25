package io.github.pulsarspark.cluster

import scala.util.Random

import io.netty.buffer.{ByteBuf, ByteBufUtil}
import org.apache.pulsar.common.api.proto.{CompressionType, MarkerType, MessageMetadata}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import io.github.pulsarspark.format.{ChunkedLog, Sent, SentGenerators, StoredEntry}
import io.github.pulsarspark.position.Position

/** A topic partition whose first ledgers were trimmed, some of them or none. */
final case class RandomTopic(topic: StoredTopic, trimmed: Vector[TopicLedger]) {
  private val gone = trimmed.flatMap(_.entries)

  /** A range as a query may have it: it begins anywhere, and ends with something that a broker dispatched when the
    * range was planned. Both may be inside a batch, and both may be trimmed.
    */
  def range(dice: Random): (Position, Position) = {
    val starts = (trimmed ++ topic.ledgers).map(l => Position(l.id, -1)) ++ (gone ++ topic.entries).flatMap(placesIn)
    val from   = RandomTopic.oneOf(dice, starts)
    val all    = ends(from, Position(Long.MaxValue, 0))
    if (all.isEmpty) range(dice) else (from, RandomTopic.oneOf(dice, all))
  }

  /** Ends that ranges may have, after one place and before another. */
  def ends(after: Position, before: Position): Vector[Position] = (gone ++ topic.entries).filter(
    topic.isDispatched
  ).flatMap(placesIn).filter(p => p > after && p < before).sorted

  /** The place of an entry, and those of messages in it. */
  private def placesIn(entry: TopicEntry): Seq[Position] =
    entry.at +: (0 until entry.messages).map(i => entry.at.copy(batchIndex = i))

  override def toString: String =
    s"trimmed: ${gone.mkString(", ")}; ledgers: ${topic.ledgers.map(l => s"${l.id}: ${l.entries.mkString(", ")}").mkString("; ")}" +
      s"; aborted: ${topic.aborted.mkString(", ")}"
}

object RandomTopic {

  /** Messages of up to four producers, mixed: alone, in batches, in chunks and in transactions, with any codec.
    *
    * @param damaged
    *   whether a batch may be damaged
    */
  def apply(dice: Random, name: String, firstLedger: Long, damaged: Boolean): RandomTopic = {
    val producers       = Vector.fill(1 + dice.nextInt(4))(Vector.fill(1 + dice.nextInt(4))(queue(dice)).flatten)
    val sent            = ChunkedLog.mixed(if (damaged) producers :+ Vector(damagedBatch(dice)) else producers, dice)
    val ledgers         = place(sent.zipWithIndex, dice, firstLedger)
    val (trimmed, left) = ledgers.splitAt(if (dice.nextInt(3) == 0) dice.nextInt(ledgers.size) else 0)
    val newest  = if (dice.nextInt(6) == 0) Vector(TopicLedger(left.last.id + 1, Vector.empty)) else Vector.empty
    val aborted = sent.flatMap(_.aborts).toSet
    val topic   = StoredTopic(name, left ++ newest, aborted)
    if (topic.entries.exists(topic.isDispatched)) RandomTopic(topic, trimmed)
    else apply(dice, name, firstLedger, damaged)
  }

  /** Entry that a producer or the broker appends.
    *
    * @param clock
    *   what shares its publish time
    * @param aborts
    *   the transaction that ends here
    */
  private final case class Draft(
      clock: String,
      messages: Int,
      make: Long => (TopicEntry.Kind, ByteBuf),
      aborts: Option[(Long, Long)] = None
  )

  private def queue(dice: Random): Vector[Draft] = dice.nextInt(10) match {
    case 0 | 1     => transaction(dice)
    case 2 | 3 | 4 => chunked(dice)
    case 5         => Vector(marker(dice, MarkerType.REPLICATED_SUBSCRIPTION_SNAPSHOT_REQUEST, None))
    case _         => Vector(entry(dice, None))
  }

  private def entry(dice: Random, transaction: Option[(Long, Long)]): Draft = {
    val size   = oneOf(dice, Seq(0, 0, 1, 2, 3, 7, 40))
    val stored = made(dice, size, transaction)
    Draft(text(dice), size, time => TopicEntry.Messages(transaction) -> at(stored, time).bytes)
  }

  private def made(dice: Random, size: Int, transaction: Option[(Long, Long)]): StoredEntry = {
    val messages = Vector.fill(math.max(1, size))(message(dice))
    val schema   = Option.when(dice.nextInt(4) == 0)(Array.fill(8)(dice.nextInt(3).toByte))
    StoredEntry(
      messages,
      batched = size > 0,
      compression = oneOf(dice, CompressionType.values.toSeq),
      checksum = dice.nextInt(5) > 0,
      brokerTime = Option.when(dice.nextInt(3) == 0)(1700000000000L + dice.nextInt(1000)),
      brokerIndex = Option.when(dice.nextInt(3) == 0)(1000L + dice.nextInt(1000)),
      metadata => {
        describe(transaction)(metadata)
        if (size == 0 && dice.nextBoolean()) metadata.setDeliverAtTime(1700000000000L)
        schema.foreach(v => metadata.setSchemaVersion(v))
      }
    )
  }

  private def at(stored: StoredEntry, time: Long) =
    stored.copy(metadata = m => { stored.metadata(m); m.setPublishTime(time); () })

  private def describe(transaction: Option[(Long, Long)])(metadata: MessageMetadata): Unit =
    transaction.foreach { case (most, least) => metadata.setTxnidMostBits(most).setTxnidLeastBits(least) }

  private def marker(dice: Random, kind: MarkerType, transaction: Option[(Long, Long)]): Draft = {
    val stored = StoredEntry(
      Seq(Sent.text("of the broker")),
      batched = false,
      metadata = m => { describe(transaction)(m); m.setMarkerType(kind.getValue); () }
    )
    Draft(text(dice), 0, time => TopicEntry.Marker -> at(stored, time).bytes)
  }

  private def transaction(dice: Random): Vector[Draft] = {
    val id       = (dice.nextInt(3).toLong, dice.nextLong() & Long.MaxValue)
    val isCommit = dice.nextBoolean()
    val end      = marker(dice, if (isCommit) MarkerType.TXN_COMMIT else MarkerType.TXN_ABORT, Some(id))
    Vector.fill(1 + dice.nextInt(3))(entry(dice, Some(id))) :+
      (if (isCommit) end else end.copy(aborts = Some(id)))
  }

  private def damagedBatch(dice: Random): Draft = {
    val stored = made(dice, 3, None).copy(checksum = true)
    Draft(text(dice), 3,
      time => {
        val bytes = at(stored, time).bytes
        val last  = bytes.writerIndex - 1
        TopicEntry.Damaged -> bytes.setByte(last, bytes.getByte(last) ^ 1)
      })
  }

  /** One message in chunks. Its producer may give up and begin again, send some chunks twice, or lose one. */
  private def chunked(dice: Random): Vector[Draft] = {
    val count       = 2 + dice.nextInt(3)
    val uuid        = text(dice)
    val content     = Array.fill(40 + dice.nextInt(2000))((dice.nextInt(20) + 60).toByte)
    val compression = oneOf(dice, CompressionType.values.toSeq)
    val all         = (0 until count).toVector
    val sent        = dice.nextInt(6) match {
      case 0 => all.take(1 + dice.nextInt(count)) ++ all
      case 1 => val n = 1 + dice.nextInt(count); all.take(n) ++ all.drop(math.max(0, n - 1 - dice.nextInt(3)))
      case 2 => all.patch(dice.nextInt(count), Nil, 1)
      case 3 => all.take(dice.nextInt(count))
      case _ => all
    }
    sent.map(id =>
      Draft(
        uuid,
        0,
        time => {
          def pieces(n: Int) = ChunkedLog.split(content, n, uuid, time, compression)
          TopicEntry.Chunk(uuid, id, count, ByteBufUtil.getBytes(pieces(1).head)) -> pieces(count)(id)
        }
      )
    )
  }

  /** Times that Spark can show. */
  private def message(dice: Random): Sent = {
    val any = SentGenerators.sent.pureApply(Gen.Parameters.default, Seed(dice.nextLong()))
    any.copy(eventTime = any.eventTime.map(_ % 4000000000000L))
  }

  /** Ids of ledgers have gaps, for other topics have ledgers too. Chunks of a message share its publish time. */
  private def place(sent: Vector[(Draft, Int)], dice: Random, firstLedger: Long): Vector[TopicLedger] = {
    val times = scala.collection.mutable.Map.empty[String, Long]
    sent.foldLeft(Vector(TopicLedger(firstLedger, Vector.empty))) {
      case (ledgers :+ open, (draft, i)) =>
        val closes        = open.entries.nonEmpty && dice.nextInt(5) == 0
        val ledger        = if (closes) TopicLedger(open.id + 1 + dice.nextInt(3), Vector.empty) else open
        val time          = times.getOrElseUpdate(draft.clock, 1700000000000L + i / 2)
        val (kind, bytes) = draft.make(time)
        val entry = TopicEntry(Position(ledger.id, ledger.entries.size.toLong), ByteBufUtil.getBytes(bytes), kind,
          time, draft.messages)
        bytes.release()
        (if (closes) ledgers :+ open else ledgers) :+ ledger.copy(entries = ledger.entries :+ entry)
      case (none, _) => none
    }
  }

  private def text(dice: Random) = s"u${dice.nextLong()}"

  private def oneOf[A](dice: Random, choices: Seq[A]): A = choices(dice.nextInt(choices.size))
}
