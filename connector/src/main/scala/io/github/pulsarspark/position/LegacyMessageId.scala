package io.github.pulsarspark.position

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import com.google.protobuf.UnknownFieldSet

/** A message id as streamnative/pulsar-spark wrote it: the bytes of Pulsar's `MessageIdData` protobuf (ledgerId 1,
  * entryId 2, partition 3, batch_index 4) as a JSON array of signed numbers. Pulsar's own class of that message is not
  * used because positions know nothing of its client.
  */
private[position] sealed trait LegacyMessageId

private[position] object LegacyMessageId {
  case object Earliest                    extends LegacyMessageId
  case object Latest                      extends LegacyMessageId
  final case class At(position: Position) extends LegacyMessageId

  /** Parses a message id; None for bytes that are cut off or something else. */
  def parse(array: JsonNode): Option[LegacyMessageId] = {
    val bytes              = array.elements().asScala.map(_.intValue.toByte).toArray
    val fields             = Try(UnknownFieldSet.parseFrom(bytes)).getOrElse(UnknownFieldSet.getDefaultInstance)
    def number(field: Int) = fields.getField(field).getVarintList.asScala.lastOption.map(_.longValue)
    (number(1), number(2), number(4).fold(Position.WholeEntry)(_.toInt)) match {
      case (Some(-1L), Some(-1L), _)                                        => Some(Earliest)
      case (Some(Long.MaxValue), _, _)                                      => Some(Latest)
      case (Some(ledger), Some(entry), batch) if ledger >= 0 && entry >= -1 => Some(At(Position(ledger, entry, batch)))
      case _                                                                => None
    }
  }
}
