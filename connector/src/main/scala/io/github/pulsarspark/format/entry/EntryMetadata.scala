package io.github.pulsarspark.format.entry

import java.util.{Arrays => JArrays}

import scala.annotation.switch

/** Fields of an entry's `MessageMetadata` that hold for the entry as a whole. One instance is overwritten by every
  * entry.
  *
  * The client's own class is not used: it makes strings of the property ranges that a message view needs, and takes an
  * unknown compression for none.
  */
private[format] final class EntryMetadata(cursor: ProtobufCursor) {
  val producerName   = new RepeatedBytes
  val replicatedFrom = new RepeatedBytes
  val schemaVersion  = new RepeatedBytes
  val uuid           = new RepeatedBytes

  var publishTime: Long         = 0
  var isReplicated: Boolean     = false
  var hasSchemaVersion: Boolean = false
  var compression: Int          = 0
  var uncompressedSize: Int     = 0

  /** True for a batch, even of one message; `messages` is 1 when it is not. */
  var isBatch: Boolean = false
  var messages: Int    = 1

  var isMarker: Boolean    = false
  var isEncrypted: Boolean = false

  /** Number of chunks in the message, above 1 if the entry is one of them; `chunkId` counts them from 0, `uuid` is the
    * same in all of them.
    */
  var chunks: Int      = 0
  var chunkId: Int     = 0
  var hasUuid: Boolean = false

  /** True for both if the message belongs to a transaction. */
  var hasMostBits: Boolean  = false
  var hasLeastBits: Boolean = false
  var txnMostBits: Long     = 0
  var txnLeastBits: Long    = 0

  def isChunk: Boolean     = chunks > 1
  def isLastChunk: Boolean = chunkId == chunks - 1

  def inTransaction: Boolean = hasMostBits && hasLeastBits

  /** True if compaction wrote the entry and its metadata lists the messages that it kept (brokers from 4.1 on write the
    * list).
    */
  var isCompacted: Boolean = false

  /** True if the metadata holds a key, ordering key or properties: of the message in an entry that is not a batch. */
  var hasMessageFields: Boolean = false

  /** Defaults for the messages of the entry: each holds unless the message sets its own. */
  var sequenceId: Long            = 0
  var eventTime: Long             = 0
  var deliverAtTime: Long         = 0
  var valueIsNull: Boolean        = false
  var partitionKeyIsNull: Boolean = false

  private def clear(): Unit = {
    publishTime = 0; isReplicated = false; hasSchemaVersion = false; compression = 0; uncompressedSize = 0
    isBatch = false; messages = 1; isMarker = false; isEncrypted = false; isCompacted = false; hasMessageFields = false
    chunks = 0; chunkId = 0; hasUuid = false; hasMostBits = false; hasLeastBits = false
    sequenceId = 0; eventTime = 0; deliverAtTime = 0; valueIsNull = false; partitionKeyIsNull = false
  }

  def parse(bytes: Array[Byte], length: Int): Unit = {
    clear()
    cursor.over(bytes, 0, length)
    var required = 0
    var tag      = cursor.nextTag()
    while (tag != 0) {
      (tag: @switch) match {
        case 10            => producerName.set(bytes, cursor); required |= 1
        case 16            => sequenceId = cursor.long(); required |= 2
        case 24            => publishTime = cursor.long(); required |= 4
        case 42            => replicatedFrom.set(bytes, cursor); isReplicated = true
        case 64            => compression = cursor.int()
        case 72            => uncompressedSize = cursor.int()
        case 88            => messages = cursor.int(); isBatch = true
        case 96            => eventTime = cursor.long()
        case 106           => isEncrypted = true; cursor.skip(tag)
        case 130           => schemaVersion.set(bytes, cursor); hasSchemaVersion = true
        case 152           => deliverAtTime = cursor.long()
        case 160           => isMarker = true; cursor.skip(tag)
        case 176           => txnLeastBits = cursor.long(); hasLeastBits = true
        case 184           => txnMostBits = cursor.long(); hasMostBits = true
        case 200           => valueIsNull = cursor.boolean()
        case 210           => uuid.set(bytes, cursor); hasUuid = true
        case 216           => chunks = cursor.int()
        case 232           => chunkId = cursor.int()
        case 240           => partitionKeyIsNull = cursor.boolean()
        case 248 | 250     => isCompacted = true; cursor.skip(tag)
        case 34 | 50 | 146 => hasMessageFields = true; cursor.skip(tag)
        case _             => cursor.skip(tag)
      }
      tag = cursor.nextTag()
    }
    if (required != 7)
      throw new MalformedBytes("malformed metadata: producer name, sequence id or publish time is missing")
  }
}

/** A byte string that is mostly the same as in the entry before, so its copies are shared. */
private[format] final class RepeatedBytes {
  private var copy       = MessageView.NoBytes
  private var copyAsText = ""

  /** Takes over the byte string at the cursor, which goes over `source`. */
  def set(source: Array[Byte], cursor: ProtobufCursor): Unit = {
    val length = cursor.range()
    val from   = cursor.rangeStart
    if (!JArrays.equals(source, from, from + length, copy, 0, copy.length)) {
      copy = JArrays.copyOfRange(source, from, from + length)
      copyAsText = new String(copy, java.nio.charset.StandardCharsets.UTF_8)
    }
  }

  def bytes: Array[Byte] = copy
  def text: String       = copyAsText
}
