package io.github.pulsarspark.position

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/** How a stream started, valid as long as its checkpoint is used.
  *
  * @param offset
  *   positions before the first messages
  * @param notBefore
  *   for streams that started at a time: the publish time in milliseconds since 1970 before which messages are skipped,
  *   by topic partition; [[StreamStart.AnyPartition]] is for all others, also those that appear later
  */
final case class StreamStart(offset: PulsarOffset, notBefore: SortedMap[String, Long] = SortedMap.empty) {

  def times(partition: String): Interval =
    notBefore.get(partition).orElse(notBefore.get(StreamStart.AnyPartition)).fold(Interval())(Interval(_))

  /** The JSON of the offset with one more field, `notBefore`. */
  def json: String = {
    val root = StreamStart.mapper.readTree(offset.json).deepCopy[com.fasterxml.jackson.databind.node.ObjectNode]()
    if (notBefore.nonEmpty) notBefore.foldLeft(root.putObject("notBefore")) { case (node, (partition, millis)) =>
      node.put(partition, millis)
    }
    root.toString
  }
}

object StreamStart {
  val AnyPartition = "*"

  private val mapper = new ObjectMapper()

  /** @param where the file the text is from, for errors */
  def parse(text: String, where: String): StreamStart = {
    val offset    = PulsarOffset.parse(text, where)
    val notBefore = mapper.readTree(text).path("notBefore").properties().asScala.map(e => e.getKey -> e.getValue.asLong)
    StreamStart(offset, SortedMap.from(notBefore))
  }
}
