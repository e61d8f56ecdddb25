package io.github.pulsarspark.position

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** The offsets of streams of streamnative/pulsar-spark: JSON with the bytes of a message id for each topic partition.
  *
  * A partition with the id `earliest` has no position: nothing of it was read, so that it is read from its first
  * message, like a partition that joins.
  */
private[position] object IncumbentOffset {

  /** Offset after a batch of the incumbent connector. Batches there end with the last message of the id's entry.
    *
    * @return
    *   None for JSON of another form
    */
  def end(root: JsonNode): Option[PulsarOffset] = positions(root)(_.wholeEntry)

  /** Like `end`, for the start of a stream. Streams there start with the first message of the id's entry. */
  def start(root: JsonNode): Option[PulsarOffset] = positions(root)(_.wholeEntry.preceding)

  private def positions(root: JsonNode)(passed: Position => Position): Option[PulsarOffset] = {
    val nodes   = root.properties().asScala.toSeq.map(e => e.getKey -> e.getValue)
    val ids     = nodes.collect { case (topic, node) if node.isArray => LegacyMessageId.parse(node).map(topic -> _) }
    val isKnown = ids.size == nodes.size && ids.forall(_.exists(_._2 != LegacyMessageId.Latest))
    Option.when(nodes.nonEmpty && isKnown)(
      PulsarOffset.of(ids.flatten.collect { case (topic, LegacyMessageId.At(p)) => topic -> passed(p) })
    )
  }
}
