package io.github.pulsarspark.pulsar.admin

import java.io.IOException

import com.fasterxml.jackson.core.JsonParseException
import com.fasterxml.jackson.core.exc.StreamConstraintsException
import com.fasterxml.jackson.core.io.JsonEOFException

import io.github.pulsarspark.fuzz.FuzzTarget

/** Ledgers in the answer of an admin service, which arrives in pieces. The first byte is their size. */
object LedgerAnswerFuzz extends FuzzTarget {

  private final class Lines extends LedgerSink[Seq[String]] {
    private val lines                        = Seq.newBuilder[String]
    override def ledger(f: JsonFields): Unit = lines +=
      s"${f.long("ledgerId")} ${f.flag("offloaded")} ${f.text("metadata")}"
    override def end(f: JsonFields): Seq[String] = lines.result() :+ s"${f.text("lastConfirmedEntry")}"
  }

  override def refusals: Set[Class[_]] =
    Set(classOf[IOException], classOf[JsonParseException], classOf[JsonEOFException],
      classOf[StreamConstraintsException])

  override def seeds: Seq[Array[Byte]] = Seq(7, 100).map(size =>
    size.toByte +:
      """{"lastConfirmedEntry": "16:0", "state": null, "ledgers": [{"ledgerId": 8, "entries": 6, "offloaded": true,
        |"metadata": "", "properties": {"list": [{"entries": 7}]}}, {"ledgerId": 16, "metadata": "ä=[\"b\"]"}, {}],
        |"cursors": {"c": {"ledgers": [{"ledgerId": 77}]}}, "currentLedgerSize": 1.5e3}""".stripMargin.getBytes("UTF-8")
  )

  override def decode(bytes: Array[Byte]): Any = {
    val answer = new LedgerAnswer(new Lines)
    bytes.drop(1).grouped(math.max(1, bytes.headOption.fold(1)(_.toInt))).foreach(answer.read)
    answer.end()
  }
}
