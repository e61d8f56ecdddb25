package io.github.pulsarspark.position

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** Recognizes the offsets of Spark's own sources, for errors. */
private[position] object ForeignOffset {

  /** The kind of source that writes such offsets; None when it is not known. */
  def source(root: JsonNode): Option[String] =
    if (root.isIntegralNumber) Some("a source that counts, such as rate")
    else if (root.has("logOffset") || root.has("batchId")) Some("a source of files")
    else if (isKafka(root)) Some("a source such as kafka")
    else None

  /** Numbers by topic and partition. */
  private def isKafka(root: JsonNode) = {
    val topics = root.properties().asScala.map(_.getValue)
    topics.nonEmpty && topics.forall(t => t.isObject && t.elements().asScala.forall(_.isIntegralNumber))
  }
}
