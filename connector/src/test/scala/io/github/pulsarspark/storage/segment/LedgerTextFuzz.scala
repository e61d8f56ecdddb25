package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.fuzz.TextFuzzTarget

/** The text of a ledger's metadata, as the admin service reports it. */
object LedgerTextFuzz extends TextFuzzTarget {
  private val head =
    "LedgerMetadata{formatVersion=3, ensembleSize=2, writeQuorumSize=2, ackQuorumSize=1, state=CLOSED, length=7, " +
      "lastEntryId=0, digestType=CRC32C, password=OMITTED, ensembles={0=[a:3181, b:3181], 9=[a:3181, c:3181]}"

  override def texts: Seq[String] = Seq(
    s"$head}",
    s"$head, customMetadata={application=base64:cHVsc2Fy, pulsar/managed-ledger=base64:YS9iL3BlcnNpc3RlbnQvYw==}}"
  )

  override def decode(text: String): Any = new BookieMetadataParser().parse(text)
}
