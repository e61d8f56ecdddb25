package io.github.pulsarspark.pulsar.admin

import java.io.IOException

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

class LedgerAnswerSuite extends PropertySuite {

  /** Writes down what it is given. */
  private final class Lines extends LedgerSink[Seq[String]] {
    private val lines = Seq.newBuilder[String]

    override def ledger(f: JsonFields): Unit =
      lines += s"${f.long("ledgerId")} ${f.long("entries")} ${f.flag("offloaded")} ${f.text("metadata").getOrElse("-")}"

    override def end(f: JsonFields): Seq[String] =
      lines.result() :+ s"${f.text("lastConfirmedEntry").getOrElse("-")} ${f.long("currentLedgerSize")}"
  }

  private def read(json: String, pieces: Int => Int = identity): Seq[String] = {
    val answer = new LedgerAnswer(new Lines)
    val bytes  = json.getBytes("UTF-8")
    var at     = 0
    while (at < bytes.length) {
      val end = math.min(bytes.length, at + math.max(1, pieces(bytes.length)))
      answer.read(bytes.slice(at, end))
      at = end
    }
    answer.end()
  }

  private val stats =
    """{"entriesAddedCounter": 9, "lastConfirmedEntry": "16:0", "state": null,
      |"schemaLedgers": [{"ledgerId": 99, "entries": 1, "metadata": "of a schema"}],
      |"ledgers": [
      |  {"ledgerId": 8, "entries": 6, "size": 358, "offloaded": true, "metadata": "", "properties": {"ledgerId": 5, "list": [{"entries": 7}]}},
      |  {"ledgerId": 16, "offloaded": false, "metadata": "ä=[\"b\"], x"}, {}],
      |"compactedLedger": {"ledgerId": -1, "entries": -1},
      |"cursors": {"c": {"lastConfirmedEntry": "1:1", "ledgers": [{"ledgerId": 77}]}},
      |"currentLedgerSize": 120}""".stripMargin

  private val expected = Seq("8 6 true -", "16 0 false ä=[\"b\"], x", "0 0 false -", "16:0 120")

  test("an answer yields its ledgers in order and its own fields; nested values and other lists are skipped") {
    assertEquals(read(stats), expected)
  }

  property("an answer yields the same, however it is cut into pieces") {
    forAll(Gen.long) { seed =>
      val random = new Random(seed)
      assertEquals(read(stats, _ => 1 + random.nextInt(30)), expected)
    }
  }

  test("an answer without ledgers yields none") {
    assertEquals(read("{}"), Seq("- 0"))
    assertEquals(read("""{"ledgers": null, "currentLedgerSize": "x"}"""), Seq("- 0"))
    assertEquals(read("""{"ledgers": {"a": {"ledgerId": 1}}}"""), Seq("- 0"))
  }

  test("an answer that is no JSON, or is cut off, is an error") {
    for (json <- Seq("", "<html>", "{\"ledgers\": [{\"ledgerId\": 1}", stats.dropRight(1), "{\"a\": nothing}"))
      intercept[IOException](read(json))
  }
}
