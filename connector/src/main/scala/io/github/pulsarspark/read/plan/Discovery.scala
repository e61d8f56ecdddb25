package io.github.pulsarspark.read.plan

import scala.collection.mutable

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.{ProtobufMessageOption, SchemaMode, TopicSelection}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.avro.AvroFormat
import io.github.pulsarspark.schema.protobuf.ProtobufFormat

/** Finds the topics of a read, and their schemas.
  *
  * @param allowMissing
  *   whether the read starts without the topics that do not exist
  */
private[pulsarspark] final class Discovery(
    selection: TopicSelection,
    allowMissing: Boolean,
    mode: SchemaMode,
    protobuf: Option[ProtobufMessageOption],
    broker: BrokerApi,
    url: String
) {

  /** Full names of the current topics, each with those of its partitions. Fails when a named topic is missing or none
    * matches a pattern, unless topics may be missing.
    */
  def topics(): Map[String, Seq[String]] = selection match {
    case _ if allowMissing           => topicsLeft()
    case TopicSelection.Named(names) =>
      val existing = broker.partitions(names)
      names.map(TopicNames.full).find(!existing.contains(_)).foreach(t =>
        throw Conditions.TopicNotFound(topic = t, url = url).exception
      )
      existing
    case TopicSelection.Matching(pattern) =>
      val found = broker.matching(pattern)
      if (found.partitions.isEmpty) throw noMatch(pattern, found.all)
      broker.partitions(found.partitions.keys.toSeq.sorted)
  }

  /** Like discovery at the start, but does not fail: skips missing topics, and with a pattern also missing partitions,
    * because its list names each partition.
    */
  def topicsLeft(): Map[String, Seq[String]] = selection match {
    case TopicSelection.Named(names)      => broker.partitions(names)
    case TopicSelection.Matching(pattern) => broker.matching(pattern).partitions
  }

  /** The schemas that topics are read as. A topic without a schema holds bytes. Equal schemas are resolved once. */
  def schemas(topics: Iterable[String]): Seq[(String, TopicSchema)] = {
    val names = topics.toSeq.sorted
    if (mode == SchemaMode.Raw) names.map(_ -> TopicSchema.Bytes)
    else {
      val newest = broker.schemas(names)
      val readBy = mutable.HashMap.empty[TopicSchema, TopicSchema]
      names.map { topic =>
        val own = newest.getOrElse(topic, TopicSchema.Bytes)
        topic -> readBy.getOrElseUpdate(own.withoutVersion, readAs(topic, own.withoutVersion)).ofVersion(own.version)
      }
    }
  }

  private def readAs(topic: String, own: TopicSchema): TopicSchema = mode match {
    case SchemaMode.Auto =>
      protobuf.fold(own)(p => ProtobufFormat.described(topic, own, p.source, p.files.toArray, p.name))
    case SchemaMode.Pinned(definition) => AvroFormat.pinned(topic, own, definition)
    case SchemaMode.Raw                => TopicSchema.Bytes
  }

  private def noMatch(pattern: String, all: Seq[String]) = {
    val (namespace, expression) = TopicNames.pattern(pattern)
    val shown = if (all.isEmpty) "none" else all.take(10).mkString(", ") + (if (all.size > 10) ", ..." else "")
    Conditions.NoTopicMatches(namespace = namespace.toString, pattern = expression.pattern, topics = shown).exception
  }
}
