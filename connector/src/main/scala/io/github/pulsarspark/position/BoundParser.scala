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

  private val allowed = "`earliest`, `latest`, or JSON as {\"topic\": \"ledger:entry:batchIndex\"}"
  private val after   = raw"(?i)\s*after\s+(\S+)\s*".r

  /** @param others where partitions start or end that the text does not list */
  def offsets(option: String, text: String, others: PositionSpec): BoundSpec = word(text) match {
    case Some(spec) => BoundSpec.Everywhere(option, spec)
    case None       =>
      val root     = json(text, malformed(option, _, _, allowed))
      val progress = root.has("version") && root.has("positions")
      if (progress) {
        if (root.get("version").asInt(Int.MaxValue) > PulsarOffset.Version)
          throw malformed(option, "version", s"${root.get("version")} is newer than ${PulsarOffset.Version}", allowed)
        val nothing = if (isStart(option)) PositionSpec.Earliest else PositionSpec.After(Position.BeforeAll)
        each(option, PartitionNames.read(root.get("positions")).toMap, PositionSpec.After(_), nothing)
      } else if (isStart(option)) each(option, fields(root), PositionSpec.From(_), others)
      else each(option, fields(root), PositionSpec.After(_), others)
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

  private def word(text: String): Option[PositionSpec] = text.trim.toLowerCase match {
    case "earliest" => Some(PositionSpec.Earliest)
    case "latest"   => Some(PositionSpec.Latest)
    case _          => None
  }

  private def isStart(option: String) = option.startsWith("starting")

  /** @param at
    *   makes the spec of a position
    */
  private def position(option: String, topic: String, node: JsonNode, at: Position => PositionSpec): PositionSpec =
    if (node.isArray) LegacyMessageId.parse(node).map(legacy(
      option,
      _
    )).getOrElse(throw malformed(option, topic, "these bytes are not a message id", allowed))
    else
      word(node.asText)
        .orElse(Position.parse(node.asText).map(at))
        .orElse(if (isStart(option)) afterMessage(node.asText) else None)
        .getOrElse(throw malformed(option, topic, s"`${node.asText}` is not a position", allowed))

  private def afterMessage(text: String): Option[PositionSpec] = text match {
    case after(position) => Position.parse(position).map(PositionSpec.After(_))
    case _               => None
  }

  /** Converts a bound of the incumbent connector, whose starts include the message of the id. */
  private def legacy(option: String, id: LegacyMessageId): PositionSpec = id match {
    case LegacyMessageId.Earliest => PositionSpec.Earliest
    case LegacyMessageId.Latest   => PositionSpec.Latest
    case LegacyMessageId.At(p)    => if (isStart(option)) PositionSpec.From(p) else PositionSpec.After(p)
  }

  private def json(text: String, error: (String, String) => RuntimeException): JsonNode =
    Try(new ObjectMapper().readTree(text)).toOption.filter(_.isObject).getOrElse(
      throw error(text, "it is not a JSON object")
    )

  private def fields(node: JsonNode): Map[String, JsonNode] =
    node.properties().asScala.map(e => e.getKey -> e.getValue).toMap

  private def malformed(option: String, where: String, why: String, allowed: String) =
    Conditions.OffsetsMalformed(option = option, where = where, why = why, allowed = allowed).exception
}
