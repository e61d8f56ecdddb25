package io.github.pulsarspark.storage.offload

import java.nio.charset.StandardCharsets.UTF_8

import io.github.pulsarspark.format.entry.{MalformedBytes, ProtobufCursor}

/** What BookKeeper knew of a ledger when it was copied: its metadata travels with the copy.
  *
  * @param managedLedger
  *   what the ledger says it belongs to
  */
private[offload] final case class OffloadedLedgerMetadata(lastEntryId: Long, managedLedger: Option[String]) {

  /** Fails unless this is the ledger of `expected` and has the entries up to `last`. */
  def check(expected: String, last: Long): Unit = {
    managedLedger.filter(_ != expected).foreach(other => throw new MalformedBytes(s"it belongs to $other"))
    if (last > lastEntryId) throw new MalformedBytes(s"it ends with entry $lastEntryId, before entry $last")
  }
}

private[offload] object OffloadedLedgerMetadata {

  /** Field numbers and wire types of BookKeeper's `LedgerMetadataFormat`, and of the pairs in its custom metadata. */
  private val LastEntryId    = 4 << 3
  private val CustomMetadata = 11 << 3 | 2
  private val Key            = 1 << 3 | 2
  private val Value          = 2 << 3 | 2

  private val ManagedLedgerKey = "pulsar/managed-ledger"

  def parse(bytes: Array[Byte], from: Int, length: Int): OffloadedLedgerMetadata = {
    val cursor = new ProtobufCursor
    cursor.over(bytes, from, length)
    var ledger = OffloadedLedgerMetadata(-1, None)
    var tag    = cursor.nextTag()
    while (tag != 0) {
      if (tag == LastEntryId) ledger = ledger.copy(lastEntryId = cursor.long())
      else if (tag == CustomMetadata) pair(bytes, cursor).foreach(name =>
        ledger = ledger.copy(managedLedger = Some(name))
      )
      else cursor.skip(tag)
      tag = cursor.nextTag()
    }
    if (ledger.lastEntryId < 0) throw new MalformedBytes("its metadata names no last entry")
    ledger
  }

  /** The managed ledger's name, when the pair the cursor is at holds it. */
  private def pair(bytes: Array[Byte], cursor: ProtobufCursor): Option[String] = {
    cursor.range()
    val outer  = cursor.enter()
    var isName = false
    var value  = ""
    var tag    = cursor.nextTag()
    def text() = { val length = cursor.range(); new String(bytes, cursor.rangeStart, length, UTF_8) }
    while (tag != 0) {
      if (tag == Key) isName = text() == ManagedLedgerKey
      else if (tag == Value) value = text()
      else cursor.skip(tag)
      tag = cursor.nextTag()
    }
    cursor.leave(outer)
    Option.when(isName)(value)
  }
}
