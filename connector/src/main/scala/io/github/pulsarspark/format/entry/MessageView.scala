package io.github.pulsarspark.format.entry

/** One message of the entry that an `EntryDecoder` has open. There is one instance per decoder, overwritten by every
  * `next()`: nothing may keep it.
  *
  * Byte ranges point into arrays of the current entry. A decoder with `ownBytes` never writes them again, so values may
  * refer to them without a copy; any other overwrites them with the next entry. Fields are plain variables because this
  * is the hot path: no object is made per message.
  */
final class MessageView {
  // ---- of the entry, the same for every message in it
  var ledgerId: Long = -1
  var entryId: Long  = -1

  /** Position of the first chunk of a chunked message, whose last chunk is the entry above; -1 for any other message.
    */
  var firstLedgerId: Long = -1
  var firstEntryId: Long  = -1

  /** Milliseconds since 1970 by the producer's clock. */
  var publishTime: Long    = 0
  var producerName: String = ""

  /** Version bytes of the schema the entry was written with; empty when it has none. Shared between entries with the
    * same version.
    */
  var schemaVersion: Array[Byte] = MessageView.NoBytes

  /** Cluster the message was replicated from, or null. */
  var replicatedFrom: String = _

  /** Milliseconds since 1970 by the broker's clock, or -1 when the broker did not add it. */
  var brokerPublishTime: Long = -1

  // ---- of the message
  /** Index in the batch, -1 when the entry is not a batch. */
  var batchIndex: Int = -1

  /** Number of messages in the batch, 0 when the entry is not a batch. */
  var batchSize: Int   = 0
  var sequenceId: Long = 0

  /** Index of the message in the topic as counted by the broker, or -1 when the broker did not add it. */
  var index: Long = -1

  /** Milliseconds since 1970, 0 = not set (Pulsar's own convention). */
  var eventTime: Long = 0

  /** Milliseconds since 1970, 0 = not set. */
  var deliverAtTime: Long = 0

  /** Array that holds value, key, ordering key and properties, see above for how long it is valid. */
  var bytes: Array[Byte] = MessageView.NoBytes
  var valueOffset: Int   = 0
  var valueLength: Int   = 0

  /** True for a tombstone, which differs from an empty value. */
  var valueIsNull: Boolean = false

  /** Key as the bytes of `keyBytes`; `keyLength` -1 = the message has no key. Text keys are UTF-8. Base64 of bytes keys
    * is already undone.
    */
  var keyBytes: Array[Byte] = MessageView.NoBytes
  var keyOffset: Int        = 0
  var keyLength: Int        = -1

  /** True if the producer set the key as bytes rather than as text. */
  var keyIsBytes: Boolean = false

  /** Ordering key in `orderingKeyBytes`; null = none. */
  var orderingKey: Array[Byte] = _

  /** Number of properties; names and values are UTF-8 ranges in `propertyBytes`: entry 4i = name offset, +1 length, +2
    * value offset, +3 value length.
    */
  var propertyCount: Int         = 0
  var propertyBytes: Array[Byte] = MessageView.NoBytes
  var propertyRanges: Array[Int] = new Array[Int](16)
}

object MessageView {
  val NoBytes: Array[Byte] = Array.emptyByteArray
}
