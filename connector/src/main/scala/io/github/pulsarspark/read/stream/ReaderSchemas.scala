package io.github.pulsarspark.read.stream

import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.schema.TopicSchema

/** The schemas that a stream reads its topics with. The schema of a topic is fixed when a micro-batch first reads it.
  *
  * Tasks rely on the version of that schema, but only in ledgers that the topic had when its schema was requested. A
  * topic that is deleted and created again counts its versions from the start again, and has higher ledgers (see
  * [[io.github.pulsarspark.pulsar.schemas.KnownSchemas]]).
  *
  * @param request
  *   returns the schemas of more topics, together with the known ones
  */
private[read] final class ReaderSchemas(
    request: (Iterable[String], Map[String, TopicSchema]) => Map[String, TopicSchema]
) {

  private var schemas       = Map.empty[String, TopicSchema]
  private var throughLedger = Map.empty[String, Long]

  /** Fixes the schemas of topics before anything is read, so that no ledger is known yet. */
  def add(topics: Iterable[String]): Unit = if (topics.exists(!schemas.contains(_))) schemas = request(topics, schemas)

  /** The schema for each of the ranges of a micro-batch.
    *
    * @param ranges
    *   with the topics they belong to
    * @param lastLedgers
    *   the highest ledger of each topic, known before this call
    */
  def of(ranges: Seq[(OffsetRange, String)], lastLedgers: Map[String, Long]): Seq[TopicSchema] = {
    val fresh = ranges.map(_._2).distinct.filterNot(schemas.contains)
    add(fresh)
    throughLedger ++= fresh.map(topic => topic -> lastLedgers(topic))
    ranges.map { case (range, topic) =>
      val isCertain = throughLedger.get(topic).exists(range.endInclusive.ledgerId <= _)
      if (isCertain) schemas(topic) else schemas(topic).withoutVersion
    }
  }
}
