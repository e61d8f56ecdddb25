package io.github.pulsarspark.position

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

import io.github.pulsarspark.errors.Conditions

/** Start of a stream, valid as long as its checkpoint is used.
  *
  * @param offset
  *   positions before the first messages
  * @param notBefore
  *   for streams that started at a time: the publish time in milliseconds since 1970 before which messages are skipped,
  *   by topic partition; [[StreamStart.AnyPartition]] is for all others, also those that appear later
  * @param until
  *   the last position where a partition's messages are skipped by their time, because the search for the time is not
  *   exact before; without one they are always skipped
  */
final case class StreamStart(
    offset: PulsarOffset,
    notBefore: SortedMap[String, Long] = SortedMap.empty,
    until: SortedMap[String, Position] = SortedMap.empty
) {

  /** The publish times that a range keeps at its begin, and perhaps to its end. */
  def times(range: OffsetRange): Interval =
    if (until.get(range.topic).exists(_ <= range.startExclusive)) Interval.Always
    else
      notBefore.get(range.topic).orElse(notBefore.get(StreamStart.AnyPartition)).fold(Interval.Always)(Interval(_))

  /** Bounds of the messages that a range returns. */
  def bounds(range: OffsetRange): PruningBounds =
    times(range) match {
      case Interval.Always => PruningBounds.Everything
      case kept            => PruningBounds(kept, timesUntil = until.get(range.topic))
    }

  /** The JSON of the offset with two more fields, `notBefore` and `notBeforeUntil`. */
  def json: String = {
    val root = StreamStart.mapper.readTree(offset.json).deepCopy[ObjectNode]()
    if (notBefore.nonEmpty) notBefore.foldLeft(root.putObject("notBefore")) { case (node, (partition, millis)) =>
      node.put(partition, millis)
    }
    if (until.nonEmpty) until.foldLeft(root.putObject("notBeforeUntil")) { case (node, (partition, position)) =>
      node.put(partition, position.toString)
    }
    root.toString
  }
}

object StreamStart {
  val AnyPartition = "*"

  private val mapper = new ObjectMapper()

  /** @param where the file the text is from, for errors */
  def parse(text: String, where: String): StreamStart = {
    val offset                                               = PulsarOffset.parse(text, where)
    val root                                                 = mapper.readTree(text)
    def read[A](field: String)(parse: JsonNode => Option[A]) =
      SortedMap.from(root.path(field).properties().asScala.map { e =>
        e.getKey -> parse(e.getValue).getOrElse(throw Conditions.CheckpointMalformed(where = where,
          why = s"`${e.getValue}` of ${e.getKey} in `$field` is not its kind of value").exception)
      })
    StreamStart(
      offset,
      read("notBefore")(time => Option.when(time.canConvertToLong && time.isIntegralNumber)(time.asLong)),
      read("notBeforeUntil")(position => Position.parse(position.asText))
    )
  }
}
