package io.github.pulsarspark.position

import java.time.{OffsetDateTime, ZonedDateTime}

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.errors.Conditions

/** Parses the texts of `startingOffsets`, `endingOffsets`, `startingTime` and `endingTime`. Topic names stay as the
  * user wrote them.
  */
private[pulsarspark] object BoundParser {

  private val allowed = "`earliest`, `latest`, or JSON as {\"topic\": \"ledger:entry:batchIndex\"}"

  def offsets(option: String, text: String): BoundSpec = word(text) match {
    case Some(spec) => BoundSpec.Everywhere(option, spec)
    case None       =>
      val root = json(text, malformed(option, _, _, allowed))
      BoundSpec.Each(option,
        fields(positionsOf(root)).map { case (topic, node) => topic -> position(option, topic, node) })
  }

  def times(option: String, text: String): BoundSpec =
    if (!text.trim.startsWith("{")) BoundSpec.Everywhere(option, PositionSpec.AtTime(millis(option, text)))
    else {
      val root = json(text, (_, _) => Conditions.TimeMalformed(option = option, value = text).exception)
      BoundSpec.Each(option,
        fields(root).map { case (topic, node) => topic -> PositionSpec.AtTime(millis(option, node.asText)) })
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

  private def position(option: String, topic: String, node: JsonNode): PositionSpec =
    if (node.isArray) LegacyMessageId.parse(node).map(legacy(
      option,
      _
    )).getOrElse(throw malformed(option, topic, "these bytes are not a message id", allowed))
    else
      word(node.asText)
        .orElse(Position.parse(node.asText).map(PositionSpec.After(_)))
        .getOrElse(throw malformed(option, topic, s"`${node.asText}` is not a position", allowed))

  /** In the incumbent connector, a start includes the message of the id. */
  private def legacy(option: String, id: LegacyMessageId): PositionSpec = id match {
    case LegacyMessageId.Earliest                                     => PositionSpec.Earliest
    case LegacyMessageId.Latest                                       => PositionSpec.Latest
    case LegacyMessageId.At(p) if !option.startsWith("starting")      => PositionSpec.After(p)
    case LegacyMessageId.At(p) if p.isWholeEntry || p.batchIndex == 0 =>
      PositionSpec.After(Position(p.ledgerId, p.entryId - 1))
    case LegacyMessageId.At(p) => PositionSpec.After(p.copy(batchIndex = p.batchIndex - 1))
  }

  /** Accepts a streaming offset in the form of a checkpoint, too. */
  private def positionsOf(root: JsonNode): JsonNode =
    if (root.has("version") && root.has("positions")) root.get("positions") else root

  private def json(text: String, error: (String, String) => RuntimeException): JsonNode =
    Try(new ObjectMapper().readTree(text)).toOption.filter(_.isObject).getOrElse(
      throw error(text, "it is not a JSON object")
    )

  private def fields(node: JsonNode): Map[String, JsonNode] =
    node.properties().asScala.map(e => e.getKey -> e.getValue).toMap

  private def malformed(option: String, where: String, why: String, allowed: String) =
    Conditions.OffsetsMalformed(option = option, where = where, why = why, allowed = allowed).exception
}
