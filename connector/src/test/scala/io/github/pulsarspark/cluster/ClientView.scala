package io.github.pulsarspark.cluster

import scala.collection.mutable

import io.netty.buffer.Unpooled

import io.github.pulsarspark.format.Received
import io.github.pulsarspark.position.Position

/** Result of a read of a range.
  *
  * @param rows
  *   messages by their positions, in order; without content where only places were selected
  * @param lost
  *   ranges that are gone and were passed over
  * @param incomplete
  *   messages that lack a chunk
  * @param error
  *   its condition; what else it says where that is the same for all readers
  */
final case class Found(rows: Seq[(Position, Option[Received])], lost: Long, incomplete: Long, error: Option[String])

/** Result of Pulsar's own client for a topic, computed from how the topic was made: nothing here is the connector's. */
object ClientView {

  /** @param failOnDataLoss
    *   as the option of that name
    * @param keeps
    *   whether filters keep the messages of an entry, by publish time and place
    */
  def apply(
      topic: StoredTopic,
      from: Position,
      to: Position,
      failOnDataLoss: Boolean = true,
      keeps: (Long, Position) => Boolean = (_, _) => true
  ): Found = {
    val isLoss = from.ledgerId < topic.ledgers.head.id
    if (isLoss && failOnDataLoss) Found(Nil, 0, 0, Some("PULSAR_DATA_LOSS.TRIMMED"))
    else {
      val chunks = joined(topic)
      val within = topic.entries.filter(e =>
        topic.isDispatched(e) && e.at > from && e.at <= to.wholeEntry && keeps(e.publishTime, e.at)
      )
      val (whole, damaged) = within.span(_.kind != TopicEntry.Damaged)
      val rows             = whole.flatMap(e => messages(e, chunks)).filter { case (p, _) =>
        p > from && (if (p.isWholeEntry) p <= to.wholeEntry else p <= to)
      }
      Found(
        rows,
        if (isLoss) 1 else 0,
        whole.count(e => chunks.get(e.at).contains(false)).toLong,
        damaged.headOption.map(e => s"PULSAR_ENTRY_CORRUPT at ${e.at}")
      )
    }
  }

  private def messages(entry: TopicEntry, chunks: Map[Position, Boolean]): Seq[(Position, Option[Received])] =
    entry.kind match {
      case TopicEntry.Messages(_)           => received(entry.at, entry.bytes)
      case TopicEntry.Chunk(_, _, _, whole) =>
        if (chunks.get(entry.at).contains(true)) received(entry.at, whole) else Nil
      case _ => Nil
    }

  private def received(at: Position, bytes: Array[Byte]) =
    Received.byClient(Unpooled.wrappedBuffer(bytes)).map(r => at.copy(batchIndex = r.batchIndex) -> Some(r))

  /** The last chunks of messages by their positions; false where the message lacks a chunk. */
  private def joined(topic: StoredTopic): Map[Position, Boolean] = {
    val known     = mutable.Map.empty[String, Int] // chunks of open messages
    val delivered = mutable.Set.empty[String]
    topic.entries.flatMap(e =>
      e.kind match {
        case TopicEntry.Chunk(uuid, id, count, _) =>
          if (id == 0) {
            known(uuid) = 0
            delivered -= uuid
          }
          val isNext = known.get(uuid).contains(id)
          val isLast = id == count - 1
          if (isNext) {
            known(uuid) = id + 1
            Option.when(isLast) {
              known -= uuid
              delivered += uuid
              e.at -> true
            }
          } else if (known.get(uuid).exists(id < _)) None
          else {
            known -= uuid
            Option.when(isLast && !delivered(uuid))(e.at -> false)
          }
        case _ => None
      }
    ).toMap
  }
}
