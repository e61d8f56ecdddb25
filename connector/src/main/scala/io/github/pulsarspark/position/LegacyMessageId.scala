package io.github.pulsarspark.position

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

/** A message id as streamnative/pulsar-spark wrote it: the bytes of Pulsar's `MessageIdData` protobuf (ledgerId 1,
  * entryId 2, partition 3, batch_index 4) as a JSON array of signed numbers.
  */
private[position] sealed trait LegacyMessageId

private[position] object LegacyMessageId {
  case object Earliest                    extends LegacyMessageId
  case object Latest                      extends LegacyMessageId
  final case class At(position: Position) extends LegacyMessageId

  def parse(array: JsonNode): Option[LegacyMessageId] = {
    val fields = Try(numbers(array.elements().asScala.map(_.intValue.toByte))).getOrElse(Map.empty)
    (fields.get(1), fields.get(2), fields.get(4).fold(Position.WholeEntry)(_.toInt)) match {
      case (Some(-1L), Some(-1L), _)                                        => Some(Earliest)
      case (Some(Long.MaxValue), _, _)                                      => Some(Latest)
      case (Some(ledger), Some(entry), batch) if ledger >= 0 && entry >= -1 => Some(At(Position(ledger, entry, batch)))
      case _                                                                => None
    }
  }

  /** The numbers of a protobuf message by field, parsed by hand because Spark has no protobuf library of its own.
    * Throws when the bytes are cut off or are no message.
    */
  private def numbers(bytes: Iterator[Byte]): Map[Long, Long] =
    Iterator
      .continually(bytes)
      .takeWhile(_.hasNext)
      .flatMap { rest =>
        val tag   = number(rest)
        val value = number(rest)
        tag & 7 match {
          case 0    => Some((tag >>> 3) -> value)
          case 2    => (0L until value).foreach(_ => rest.next()); None
          case wire => throw new IllegalArgumentException(s"no message id holds wire type $wire")
        }
      }
      .toMap

  @tailrec
  private def number(bytes: Iterator[Byte], shift: Int = 0, read: Long = 0): Long = {
    val byte  = bytes.next()
    val value = read | (byte & 0x7fL) << shift
    if (byte >= 0) value else number(bytes, shift + 7, value)
  }
}
