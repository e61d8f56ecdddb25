package io.github.pulsarspark.format.entry

import java.util.{Arrays => JArrays, Base64}

import scala.annotation.switch

/** Copies the fields of one message into the view: from its `SingleMessageMetadata` in a batch, else from the entry's
  * `MessageMetadata`.
  *
  * This is the hot path, hence variables and field tags as literals. Text stays where it is, as ranges.
  */
private[format] final class MessageFields(view: MessageView, cursor: ProtobufCursor) {
  private var bytes: Array[Byte] = MessageView.NoBytes
  private var keyIsBase64        = false
  private var keyIsNull          = false

  /** Size of the value of the message parsed last; only in a batch. */
  var payloadSize: Int = 0

  /** True if compaction removed the message parsed last: it keeps its batch index but is not a message any more. */
  var isCompactedOut: Boolean = false

  /** Parses the metadata of a message in a batch. Fields it lacks have the entry's values where the Pulsar client does
    * the same, so not its keys.
    */
  def parseBatched(entry: EntryMetadata, source: Array[Byte], from: Int, length: Int): Unit = {
    begin(entry, source, from, length)
    payloadSize = -1
    isCompactedOut = false
    var tag = cursor.nextTag()
    while (tag != 0) {
      (tag: @switch) match {
        case 10 => addProperty()
        case 18 => takeKey()
        case 24 => payloadSize = cursor.int()
        case 32 => isCompactedOut = cursor.boolean()
        case 40 => view.eventTime = cursor.long()
        case 48 => keyIsBase64 = cursor.boolean()
        case 58 => takeOrderingKey()
        case 64 => view.sequenceId = cursor.long()
        case 72 => view.valueIsNull = cursor.boolean()
        case 80 => keyIsNull = cursor.boolean()
        case _  => cursor.skip(tag)
      }
      tag = cursor.nextTag()
    }
    if (payloadSize < 0)
      throw new MalformedBytes("malformed metadata: a message in the batch has no valid payload size")
    if (!isCompactedOut) finishKey()
  }

  /** Parses the metadata of an entry again, for the fields of its only message. */
  def parseSingle(entry: EntryMetadata, source: Array[Byte], length: Int): Unit = {
    begin(entry, source, 0, length)
    var tag = cursor.nextTag()
    while (tag != 0) {
      (tag: @switch) match {
        case 34  => addProperty()
        case 50  => takeKey()
        case 136 => keyIsBase64 = cursor.boolean()
        case 146 => takeOrderingKey()
        case _   => cursor.skip(tag)
      }
      tag = cursor.nextTag()
    }
    finishKey()
  }

  private def begin(entry: EntryMetadata, source: Array[Byte], from: Int, length: Int): Unit = {
    bytes = source
    keyIsBase64 = false
    keyIsNull = entry.partitionKeyIsNull
    view.sequenceId = entry.sequenceId
    view.eventTime = entry.eventTime
    view.deliverAtTime = entry.deliverAtTime
    view.valueIsNull = entry.valueIsNull
    view.keyLength = -1
    view.orderingKey = null // the view's word for "none"
    view.propertyCount = 0
    view.propertyBytes = source
    cursor.over(source, from, length)
  }

  private def takeKey(): Unit = {
    view.keyLength = cursor.range()
    view.keyOffset = cursor.rangeStart
  }

  private def takeOrderingKey(): Unit = {
    val length = cursor.range()
    view.orderingKey = JArrays.copyOfRange(bytes, cursor.rangeStart, cursor.rangeStart + length)
  }

  private def finishKey(): Unit = {
    view.keyBytes = bytes
    view.keyIsBytes = keyIsBase64
    if (keyIsNull) view.keyLength = -1
    else if (keyIsBase64 && view.keyLength >= 0) {
      val base64 = JArrays.copyOfRange(bytes, view.keyOffset, view.keyOffset + view.keyLength)
      view.keyBytes =
        try Base64.getDecoder.decode(base64)
        catch {
          case _: IllegalArgumentException =>
            throw new MalformedBytes("malformed metadata: a key is marked as base64 but is not")
        }
      view.keyOffset = 0
      view.keyLength = view.keyBytes.length
    }
  }

  private def addProperty(): Unit = {
    cursor.range()
    val outer = cursor.enter()
    val at    = view.propertyCount * 4
    if (at == view.propertyRanges.length) view.propertyRanges = JArrays.copyOf(view.propertyRanges, at * 2)
    val ranges = view.propertyRanges
    var parts  = 0
    var tag    = cursor.nextTag()
    while (tag != 0) {
      if (tag == 10 || tag == 18) {
        val part = tag >>> 4 // 0 = name, 1 = value
        ranges(at + 2 * part + 1) = cursor.range()
        ranges(at + 2 * part) = cursor.rangeStart
        parts |= part + 1
      } else cursor.skip(tag)
      tag = cursor.nextTag()
    }
    if (parts != 3) throw new MalformedBytes("malformed metadata: a property lacks its name or its value")
    view.propertyCount += 1
    cursor.leave(outer)
  }
}
