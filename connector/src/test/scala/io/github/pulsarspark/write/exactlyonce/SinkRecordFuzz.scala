package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.fuzz.TextFuzzTarget
import io.github.pulsarspark.pulsar.transactions.TransactionId

/** Records in the control topics of an exactly-once sink. */
object SinkRecordFuzz extends TextFuzzTarget {
  import SinkRecord._

  private val identity = SinkIdentity("s", "query:q", "o")
  private val one      = SinkTransaction(TransactionId(1, 2), 3, 4, 5, 6, Some("1:2"))

  override def texts: Seq[String] = Seq(
    Owner("t"),
    Prepared(7, Seq(one, one), "7:0", "*", Seq("persistent://a/b/c"), isTakenOn = true),
    Done(1, 2, 3, 4, "t", Map("u" -> 7L), lost = 9, isTakenOn = true),
    Open(1, one, 5, 6),
    Marker(1, one),
    Barrier("b")
  ).map(SinkRecords.text(identity, _, 7))

  override def decode(text: String): Any = {
    val found = SinkRecords.dated(text)
    found.foreach { record =>
      val again = SinkRecords.parse(SinkRecords.text(record.identity, record.record, record.time.toEpochMilli))
      if (!again.exists(_._1 == record.identity)) throw new IllegalStateException(s"$again is not $record")
    }
    found
  }
}
