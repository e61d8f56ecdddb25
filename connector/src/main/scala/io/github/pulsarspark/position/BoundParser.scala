package io.github.pulsarspark.position

import java.time.{OffsetDateTime, ZonedDateTime}

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.errors.Conditions

/** Parses the texts of `startingOffsets`, `endingOffsets`, `startingTime` and `endingTime`. Topic names stay as the
  * user wrote them.
  *
  * A position is the first message that is read, or the last one. The JSON of a stream's progress (`version` and
  * `positions`) means progress: everything was read up to and including its positions, and nothing of the partitions
  * that it does not list.
  */
private[pulsarspark] object BoundParser {

  private val after  = raw"after\s+(\S+)".r
  private val newest = raw"last\s+(\d+)".r

  private def allowed(option: String) = {
    val last = if (isStart(option)) ", `last 10` for the newest messages of each partition" else ""
    s"`earliest`, `latest`$last, a position `ledger:entry:batchIndex` of the only partition, or JSON as " +
      "{\"topic\": \"ledger:entry:batchIndex\"}"
  }

  /** @param others where partitions start or end that the text does not list */
  def offsets(option: String, text: String, others: PositionSpec): BoundSpec = place(option, text) match {
    case Some(spec) => BoundSpec.Everywhere(option, spec)
    case None       =>
      val root     = json(text, malformed(option, _, _))
      val progress = root.has("version") && root.has("positions")
      if (progress) {
        if (root.get("version").asInt(Int.MaxValue) > PulsarOffset.Version)
          throw malformed(option, "version", s"${root.get("version")} is newer than ${PulsarOffset.Version}")
        val nothing = if (isStart(option)) PositionSpec.Earliest else PositionSpec.After(Position.BeforeAll)
        each(option, PartitionNames.read(root.get("positions")).toMap, PositionSpec.After(_), nothing)
          .copy(isProgress = true)
      } else each(option, fields(root), inclusive(option), others)
  }

  private def each(option: String, nodes: Map[String, JsonNode], at: Position => PositionSpec, others: PositionSpec) =
    BoundSpec.Each(option, nodes.map { case (topic, node) => topic -> position(option, topic, node, at) }, others)

  /** @param others where partitions start or end that the text does not list */
  def times(option: String, text: String, others: PositionSpec): BoundSpec =
    if (!text.trim.startsWith("{")) BoundSpec.Everywhere(option, PositionSpec.AtTime(millis(option, text)))
    else {
      val root = json(text, (_, _) => Conditions.TimeMalformed(option = option, value = text).exception)
      BoundSpec.Each(option,
        fields(root).map { case (topic, node) => topic -> PositionSpec.AtTime(millis(option, node.asText)) },
        others)
    }

  /** Milliseconds since 1970 as a number, or ISO 8601 with an offset or zone. A time without one is an error: it would
    * mean another instant on each machine.
    */
  private def millis(option: String, text: String): Long = {
    val t = text.trim
    t.toLongOption
      .orElse(Try(OffsetDateTime.parse(t).toInstant.toEpochMilli).toOption)
      .orElse(Try(ZonedDateTime.parse(t).toInstant.toEpochMilli).toOption)
      .getOrElse(throw Conditions.TimeMalformed(option = option, value = text).exception)
  }

  /** A place that one text names. */
  private def place(option: String, text: String): Option[PositionSpec] =
    word(option, text).orElse(Position.parse(text).map(inclusive(option)))

  private def word(option: String, text: String): Option[PositionSpec] = text.trim.toLowerCase match {
    case "earliest"                       => Some(PositionSpec.Earliest)
    case "latest"                         => Some(PositionSpec.Latest)
    case after(from) if isStart(option)   => Position.parse(from).map(PositionSpec.After(_))
    case newest(count) if isStart(option) => count.toIntOption.filter(_ > 0).map(PositionSpec.Newest(_))
    case _                                => None
  }

  private def isStart(option: String) = option.startsWith("starting")

  /** The spec of a position that a user names. */
  private def inclusive(option: String)(position: Position): PositionSpec =
    if (isStart(option)) PositionSpec.From(position) else PositionSpec.After(position)

  /** @param at
    *   makes the spec of a position
    */
  private def position(option: String, topic: String, node: JsonNode, at: Position => PositionSpec): PositionSpec =
    if (node.isArray)
      LegacyMessageId.parse(node).map(legacy(option, _))
        .getOrElse(throw malformed(option, topic, "these bytes are not a message id"))
    else
      word(option, node.asText)
        .orElse(Position.parse(node.asText).map(at))
        .getOrElse(throw malformed(option, topic, s"`${node.asText}` is not a position"))

  /** Converts a bound of the incumbent connector, whose starts include the message of the id. */
  private def legacy(option: String, id: LegacyMessageId): PositionSpec = id match {
    case LegacyMessageId.Earliest => PositionSpec.Earliest
    case LegacyMessageId.Latest   => PositionSpec.Latest
    case LegacyMessageId.At(p)    => inclusive(option)(p)
  }

  private def json(text: String, error: (String, String) => RuntimeException): JsonNode =
    Try(new ObjectMapper().readTree(text)).toOption.filter(_.isObject).getOrElse(
      throw error(text, "it is not a JSON object")
    )

  private def fields(node: JsonNode): Map[String, JsonNode] =
    node.properties().asScala.map(e => e.getKey -> e.getValue).toMap

  private def malformed(option: String, where: String, why: String) =
    Conditions.OffsetsMalformed(option = option, where = where, why = why, allowed = allowed(option)).exception
}
